// Defines the JSON Schemas of reports: explain, doctor, proof of derived data, verify-access and sync.
import type { ExplanationVerdict } from '../../explain/explanation.ts';
import { CHAIN } from '../../verify-access/report.ts';
import { fleetFinding } from './fleet-schemas.ts';
import type { JsonSchema } from './route.ts';
import {
  arrayOf,
  booleanField,
  dateTime,
  integerField,
  nullable,
  object,
  textField,
  unixMs,
} from './schema-fields.ts';

const VERDICTS: ExplanationVerdict[] = [
  ...(['asDesired', 'onItsWay', 'held', 'stopped', 'needsPerson'] as const),
  ...(['leftAlone', 'notForTarget', 'differs', 'gone'] as const),
];
/** Fields of the result of one proof, in its report and in the status of a target. */
export const proofFields = {
  ...{ startedAt: unixMs, endedAt: unixMs, by: textField, repair: booleanField, faults: integerField },
  findings: arrayOf(
    object({
      ...{ family: textField, count: integerField, repaired: integerField, examples: arrayOf(textField) },
      fault: { enum: ['missing', 'wrong', 'surplus', 'damaged', 'doubled', 'lost'] },
    }),
  ),
};

export const REPORT_SCHEMAS = {
  Explanation: {
    ...object(
      {
        ...{ connection: textField, target: textField, ref: textField, id: textField, name: textField },
        kind: { enum: ['User', 'Group'] },
        verdict: { enum: VERDICTS },
        ...{ summary: textField, reasons: arrayOf(textField) },
        values: arrayOf(object({ name: textField, state: textField })),
        platform: {
          ...object({
            at: dateTime,
            state: { enum: ['equal', 'differs', 'unread'] },
            differences: arrayOf(
              object({ action: textField, subject: nullable('string'), reason: textField }),
            ),
            addedByOthers: {
              ...arrayOf(textField),
              description: 'Groups of a person, or members of a group, that others added and that stay.',
            },
            leftOutGroups: {
              ...arrayOf(textField),
              description: 'Groups of a person that the settings leave out.',
            },
            done: {
              ...integerField,
              description: 'Number of held or rejected changes that the platform has already.',
            },
          }),
          type: ['object', 'null'],
          description:
            'The resource as the platform showed it just now; null: not asked, because nothing is linked or a change is known already.',
        },
        memberships: arrayOf(object({ ref: textField, name: textField, state: textField })),
        timeline: arrayOf(object({ at: dateTime, event: textField, text: textField })),
        log: arrayOf({ type: 'object' }),
        isLogCut: { ...booleanField, description: 'There may be older entries of the log.' },
        fleet: arrayOf(fleetFinding),
      },
      [
        ...['connection', 'target', 'ref', 'kind', 'id', 'name', 'verdict', 'summary', 'reasons', 'stored'],
        ...[
          'values',
          'link',
          'platform',
          'condition',
          'mark',
          'memberships',
          'guard',
          'policy',
          'timeline',
          'log',
        ],
        'fleet',
      ],
    ),
    description: 'First plain sentences, then all that is known.',
  },
  Finding: object({
    ...{ area: textField, message: textField, advice: nullable('string') },
    level: { enum: ['ok', 'warning', 'error'] },
  }),
  ProofReport: {
    ...object({ connection: textField, ...proofFields }),
    description: 'One pass over derived data; faults counts the entries that were not repaired.',
  },
  AccessReport: {
    ...object({
      ...{ ok: booleanField, asked: textField, notes: arrayOf(textField) },
      result: { enum: ['complete', 'missing', 'unknown'] },
      fault: nullable('object'),
      person: object({ connection: textField, target: textField, ref: textField, userName: textField }),
      chain: arrayOf(
        object(
          {
            stage: { enum: CHAIN },
            ...{ ok: booleanField, at: dateTime, detail: textField },
            ...{ afterMs: { type: 'number' }, tookMs: { type: 'number' } },
          },
          ['stage', 'detail'],
        ),
      ),
      differences: arrayOf(object({ name: textField }, ['name'])),
      ...{ account: nullable('object'), securityContext: nullable('object'), deployment: nullable('object') },
      ...{ entities: nullable('array'), query: nullable('object') },
    }),
    description:
      'A link without ok was not checked: an earlier link is missing, or a server did not answer. fault has the reason.',
  },
  SyncReport: object(
    {
      ...{ connection: textField, target: textField, ref: textField, name: textField, dryRun: booleanField },
      differences: { type: ['array', 'null'], items: { type: 'object' } },
      pendingGroups: { type: 'object' },
      steps: arrayOf({ type: 'object' }),
      outcome: { enum: ['equal', 'held', 'waiting', 'needsPerson'] },
      message: textField,
    },
    ['connection', 'target', 'ref', 'name', 'dryRun', 'differences', 'pendingGroups', 'steps'],
  ),
} satisfies Record<string, JsonSchema>;
