// Defines the JSON Schema of the report of verify-access. The types in verify-access/report.ts explain the fields.
import {
  CHAIN,
  type AccessFault,
  type AccessReport,
  type AccountDifference,
  type AccountView,
  type CheckedStage,
  type LeftAlone,
  type VisibleEntity,
} from '../../verify-access/report.ts';
import type { JsonSchema } from './route.ts';
import {
  eachOf,
  anyField,
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
} from './schema-fields.ts';

type Part<Name extends keyof AccessReport> = NonNullable<AccessReport[Name]>;

const FAILURES = [
  'hidden',
  'attributeMissing',
  'refused',
  'notAllowed',
  'modelBroken',
  'timedOut',
  'unreachable',
  'webPage',
  'unreadable',
  'failed',
];

export const accessSchema: JsonSchema = {
  ...objectOf<AccessReport>()({
    ok: booleanField,
    asked: textField,
    notes: arrayOf(textField),
    result: { enum: ['complete', 'missing', 'unknown'] },
    fault: nullOr(
      objectOf<AccessFault>()({ at: { enum: ['choice', 'platform', 'data'] }, message: textField }),
    ),
    person: nullOr(
      objectOf<Part<'person'>>()({
        ...eachOf(['connection', 'target', 'ref', 'userName'], textField),
      }),
      'Null: no person has the name.',
    ),
    chain: arrayOf(
      objectOf<CheckedStage>()({
        stage: { enum: CHAIN },
        ok: omittable(booleanField),
        at: omittable(dateTime),
        detail: textField,
        afterMs: omittable({ type: 'number' }),
        tookMs: omittable({ type: 'number' }),
      }),
    ),
    differences: arrayOf(
      objectOf<AccountDifference>()({
        name: textField,
        desired: anyField,
        actual: anyField,
        unmappable: omittable({ ...textField, description: 'Why the desired value cannot be mapped.' }),
      }),
    ),
    leftAlone: arrayOf(
      objectOf<LeftAlone>()({
        name: textField,
        kind: { enum: ['group', 'attribute'] },
        actual: anyField,
        why: {
          enum: ['leftOut', 'kept', 'unmapped', 'policy'],
          description:
            'leftOut: by groups.include or groups.exclude. kept: onEmpty is keep. unmapped: no longer in the settings. policy: the source took the person out of the group, and the policy of the target leaves that.',
        },
      }),
    ),
    account: nullOr(
      objectOf<AccountView>()({
        scimId: textField,
        accountId: nullable('string'),
        userName: textField,
        active: booleanField,
        groups: arrayOf(textField),
        attributes: recordOf(anyField),
      }),
    ),
    securityContext: nullOr(
      object({ cubeCloud: object({ groups: arrayOf(textField), userAttributes: recordOf(anyField) }) }),
    ),
    deployment: nullOr(
      objectOf<Part<'deployment'>>()({ id: textField, name: textField, environment: textField }),
    ),
    entities: nullOr(
      arrayOf(
        objectOf<VisibleEntity>()({
          name: textField,
          type: textField,
          measures: integerField,
          dimensions: integerField,
        }),
      ),
      'Null: not read.',
    ),
    query: {
      oneOf: [
        { type: 'null' },
        object({ kind: { const: 'nothingToAsk' } }),
        object({
          kind: { const: 'rows' },
          query: { type: 'object' },
          rows: arrayOf({ type: 'object' }),
          tookMs: { type: 'number' },
        }),
        object({
          kind: { enum: FAILURES },
          query: nullable('object'),
          message: textField,
          meaning: textField,
        }),
      ],
    },
  }),
  description:
    'A stage without ok was not checked: an earlier one failed, or a server did not answer. fault has the reason.',
};
