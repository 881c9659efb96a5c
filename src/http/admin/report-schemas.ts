// Defines the JSON Schemas of reports: doctor, proof of derived data, sync; explain and verify-access have files of their own.
// The TypeScript type that each schema names explains its fields.
import type { DoctorFinding } from '../../ops/doctor/doctor-finding.ts';
import type { SyncReport } from '../../ops/sync/sync-outcome.ts';
import { ACTIONS, type Attribution, type Basis, type PlanEntry } from '../../reconcile/entry.ts';
import { accessSchema } from './access-schema.ts';
import { explanationSchema } from './explanation-schema.ts';
import { LOG_SCHEMAS, logEntry } from './log-schemas.ts';
import type { JsonSchema } from './route.ts';
import {
  eachOf,
  arrayOf,
  booleanField,
  dateTime,
  integerField,
  nullable,
  object,
  objectOf,
  nullOr,
  recordOf,
  omittable,
  textField,
  unixMs,
} from './schema-fields.ts';

/** Fields of the result of one proof, in its report and in the status of a target. */
export const proofFields = {
  startedAt: unixMs,
  endedAt: unixMs,
  by: textField,
  repair: booleanField,
  faults: integerField,
  findings: arrayOf(
    object({
      family: textField,
      count: integerField,
      repaired: integerField,
      examples: arrayOf(textField),
      fault: { enum: ['missing', 'wrong', 'surplus', 'damaged', 'doubled', 'lost'] },
    }),
  ),
};

const planEntry = objectOf<PlanEntry>()({
  action: { enum: ACTIONS },
  kind: { enum: ['User', 'Group', 'Attribute'] },
  ref: nullable('string'),
  platformId: nullable('string'),
  name: textField,
  attribute: omittable(textField),
  member: omittable(
    objectOf<NonNullable<PlanEntry['member']>>()({
      ref: nullable('string'),
      platformId: nullable('string'),
      name: textField,
    }),
  ),
  before: nullable('object'),
  after: nullable('object'),
  effect: { enum: ['apply', 'report'], description: 'report: it is not written.' },
  reason: textField,
  attribution: objectOf<Attribution>()({
    cause: textField,
    by: omittable(textField),
    at: omittable(dateTime),
  }),
  basis: objectOf<Basis>()({ version: integerField, link: textField }),
  follows: omittable({ ...textField, description: 'Resource whose sync writes this too.' }),
});

export const REPORT_SCHEMAS = {
  Explanation: explanationSchema,
  Finding: objectOf<DoctorFinding>()({
    area: textField,
    message: textField,
    advice: nullable('string'),
    level: { enum: ['ok', 'warning', 'error'] },
  }),
  ProofReport: {
    ...object({ connection: textField, ...proofFields }),
    description: 'One pass over derived data; faults counts the entries that were not repaired.',
  },
  AccessReport: accessSchema,
  SyncReport: objectOf<SyncReport>()({
    ...eachOf(['connection', 'target', 'ref', 'name'], textField),
    dryRun: booleanField,
    differences: nullOr(
      arrayOf(planEntry),
      'Before the sync; null: the platform was not read because it may be another tenant, or could not be read.',
    ),
    pendingGroups: {
      ...recordOf({ enum: ['+', '-', 'r'] }),
      description:
        'By group id; of a group by user id, or `@` and the platform id of an unmanaged member. `+` to be added, `-` to be removed, `r` a removal that is not written (rejected, or the person is protected).',
    },
    steps: arrayOf(logEntry),
    outcome: omittable({ enum: ['equal', 'held', 'waiting', 'needsPerson'] }),
    message: omittable(textField),
  }),
  ...LOG_SCHEMAS,
} satisfies Record<string, JsonSchema>;
