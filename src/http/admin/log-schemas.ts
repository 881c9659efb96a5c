// Defines the JSON Schemas of entries of the provisioning log: as stored, and in the format of the export. The TypeScript type
// that each schema names explains its fields.
import { PRIORITIES } from '../../directory/records.ts';
import { LOG_ACTIONS, LOG_STATUSES } from '../../directory/logs/provisioning-log.ts';
import type { LocatedEntry } from '../../ops/log/provisioning-log.ts';
import type { ProvisioningRecord } from '../../ops/log/provisioning-record.ts';
import type { JsonSchema } from './route.ts';
import {
  eachOf,
  anyField,
  arrayOf,
  dateTime,
  integerField,
  kindField,
  nullable,
  object,
  objectOf,
  nullOr,
  omittable,
  textField,
  unixMs,
} from './schema-fields.ts';

/** An entry as it is stored. */
export const logEntry = objectOf<LocatedEntry>()({
  id: textField,
  at: unixMs,
  ...eachOf(['connection', 'target', 'ref', 'name'], textField),
  platformId: omittable(textField),
  action: { enum: LOG_ACTIONS },
  status: { enum: LOG_STATUSES },
  request: textField,
  generation: textField,
  accepted: unixMs,
  priority: { enum: PRIORITIES },
  attempt: integerField,
  ms: omittable({ type: 'number' }),
  changes: omittable({
    ...arrayOf({ type: 'array' }),
    description: 'Name, value before (the last that the bridge wrote or read), value after.',
  }),
  members: omittable({
    ...arrayOf(textField),
    description: 'Ids of the users that were added or removed.',
  }),
  reason: omittable(textField),
  message: omittable(textField),
  http: omittable(
    object({
      method: textField,
      route: textField,
      status: omittable(integerField),
      requestId: omittable(textField),
    }),
  ),
  forgotten: omittable({
    const: true,
    description: 'The personal data was removed by the command forget.',
  }),
});

type Part<Name extends keyof ProvisioningRecord> = NonNullable<ProvisioningRecord[Name]>;

export const LOG_SCHEMAS = {
  ProvisioningRecord: objectOf<ProvisioningRecord>()({
    id: textField,
    activityDateTime: dateTime,
    connection: textField,
    target: textField,
    cycleId: {
      ...nullable('string'),
      description: 'Reconcile run or applied plan; null: a push or a decision.',
    },
    changeId: textField,
    provisioningAction: { enum: ['create', 'update', 'delete', 'disable', 'other'] },
    operation: { enum: LOG_ACTIONS },
    durationInMilliseconds: nullable('number'),
    initiatedBy: objectOf<Part<'initiatedBy'>>()({ type: textField, id: textField }),
    sourceIdentity: objectOf<Part<'sourceIdentity'>>()({
      id: textField,
      displayName: textField,
      identityType: kindField,
    }),
    targetIdentity: objectOf<Part<'targetIdentity'>>()({
      id: nullable('string'),
      displayName: textField,
      identityType: kindField,
    }),
    modifiedProperties: arrayOf(
      objectOf<Part<'modifiedProperties'>[number]>()({
        displayName: textField,
        oldValue: anyField,
        newValue: anyField,
      }),
    ),
    members: arrayOf(textField),
    provisioningSteps: arrayOf(
      objectOf<Part<'provisioningSteps'>[number]>()({
        ...eachOf(['name', 'type', 'status', 'description'], textField),
      }),
    ),
    provisioningStatusInfo: objectOf<Part<'provisioningStatusInfo'>>()({
      status: { enum: ['success', 'failure', 'skipped', 'warning'] },
      errorInformation: nullOr(
        objectOf<NonNullable<Part<'provisioningStatusInfo'>['errorInformation']>>()({
          errorCode: textField,
          errorCategory: { enum: ['failure', 'nonServiceFailure', 'guard'] },
          reason: textField,
          additionalDetails: nullable('string'),
          recommendedAction: textField,
        }),
      ),
    }),
    attempt: integerField,
    generation: textField,
    priority: { enum: PRIORITIES },
    acceptedDateTime: dateTime,
    lagMs: { type: 'number' },
    request: nullOr(
      objectOf<Part<'request'>>()({
        method: textField,
        route: textField,
        status: nullable('integer'),
        requestId: nullable('string'),
      }),
    ),
  }),
} satisfies Record<string, JsonSchema>;
