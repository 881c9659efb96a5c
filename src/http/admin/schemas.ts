// Defines the named JSON Schemas of the admin API for its OpenAPI document.
import { CHAIN } from '../../verify-access/report.ts';
import type { ExplanationVerdict } from '../../explain/explanation.ts';
import { EXCEPTION_REASONS } from '../../directory/outbox/exceptions.ts';
import { PRIORITIES } from '../../directory/records.ts';
import { DESTRUCTIVE_KINDS } from '../../guard/judge.ts';
import { APPROVAL_SCHEMAS } from './approval-schemas.ts';
import { breakerSchema, fleetFinding, fleetSchema, loadSchema } from './fleet-schemas.ts';
import type { JsonSchema } from './route.ts';
import {
  arrayOf,
  booleanField,
  dateTime,
  integerField,
  object,
  nullable,
  textField,
  unixMs,
} from './schema-fields.ts';

export const refTo = (name: keyof typeof SCHEMAS): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const VERDICTS: ExplanationVerdict[] = [
  ...(['asDesired', 'onItsWay', 'held', 'stopped', 'needsPerson'] as const),
  ...(['leftAlone', 'notForTarget', 'differs', 'gone'] as const),
];
const kinds = Object.fromEntries(DESTRUCTIVE_KINDS.map((kind) => [kind, integerField]));

const eventStanding = object({
  ...{ pending: integerField, oldestMs: { type: 'number' }, kept: integerField },
  ...{ delivered: integerField, refused: integerField, dropped: integerField, problem: nullable('string') },
});

const coverage = object({
  ...{
    desired: integerField,
    linked: integerField,
    seen: nullable('integer'),
    pending: integerField,
    held: integerField,
  },
  ...{ deadLetters: integerField, exceptions: integerField, missing: integerField },
});

const proof = {
  ...{ startedAt: unixMs, endedAt: unixMs, by: textField, repair: booleanField, faults: integerField },
  findings: arrayOf(
    object({
      ...{ family: textField, count: integerField, repaired: integerField, examples: arrayOf(textField) },
      fault: { enum: ['missing', 'wrong', 'surplus', 'damaged', 'doubled', 'lost'] },
    }),
  ),
};

const exceptionNumbers = Object.fromEntries(EXCEPTION_REASONS.map((reason) => [reason, integerField]));

export const SCHEMAS = {
  Problem: {
    ...object({ type: textField, title: textField, status: integerField, detail: textField }),
    description: 'RFC 9457; detail says what to do',
  },
  TargetStatus: object(
    {
      ...{ connection: textField, target: textField, users: integerField, groups: integerField },
      faults: nullable('integer'),
      proof: { oneOf: [{ type: 'null' }, object(proof)] },
      coverage: object({ users: coverage, groups: coverage }),
      ...{ dirty: integerField, inflight: integerField, blocked: integerField, oldestMs: { type: 'number' } },
      priorities: object(Object.fromEntries(PRIORITIES.map((priority) => [priority, integerField]))),
      load: loadSchema,
      breaker: breakerSchema,
      guard: object({ held: integerField, ...kinds, expiresAt: nullable('string') }),
      hold: {
        oneOf: [{ type: 'null' }, object({ since: unixMs, by: textField, note: textField }, ['since', 'by'])],
      },
      exceptions: object({
        ...{ total: integerField, oldestMs: { type: 'number' }, ...exceptionNumbers },
        ages: object(exceptionNumbers),
      }),
      ...{ hasMoved: booleanField, hasNewRules: booleanField },
      reconcile: object({
        ...{ last: { type: ['object', 'null'] }, lastSuccessAt: nullable('integer') },
        expected: {
          oneOf: [{ type: 'null' }, object({ since: unixMs, gapMs: { type: 'number' } }, ['since', 'gapMs'])],
        },
        next: { ...nullable('integer'), description: 'Next run of the schedule, Unix milliseconds' },
      }),
      events: { oneOf: [{ type: 'null' }, eventStanding] },
      fleet: fleetSchema,
    },
    [
      ...['connection', 'target', 'users', 'groups', 'faults', 'proof', 'coverage', 'dirty', 'inflight'],
      ...['blocked', 'oldestMs', 'priorities', 'load', 'breaker', 'guard', 'hold', 'exceptions', 'hasMoved'],
      ...['hasNewRules', 'reconcile', 'events', 'fleet'],
    ],
  ),
  ...APPROVAL_SCHEMAS,
  RefusedEvent: object(
    {
      ...{ connection: textField, id: textField, at: dateTime, resource: textField, version: integerField },
      ...{ what: arrayOf(textField), names: arrayOf(textField), err: textField, description: textField },
    },
    ['connection', 'id', 'at', 'resource', 'what', 'names', 'err', 'description'],
  ),
  DeadLetter: object({
    ...{ connection: textField, target: textField, ref: textField },
    kind: { enum: ['User', 'Group'] },
    ...{
      name: textField,
      since: dateTime,
      reason: textField,
      message: textField,
      status: nullable('integer'),
    },
  }),
  Exception: object({
    ...{ connection: textField, target: textField },
    ref: { ...nullable('string'), description: 'Null for an order of hold.' },
    kind: { enum: ['User', 'Group', null] },
    reason: { enum: EXCEPTION_REASONS },
    ...{ name: textField, since: dateTime, message: textField, advice: textField },
  }),
  Selection: object({ count: integerField, resources: arrayOf(textField) }),
  NoticeTestResult: object({
    ...{ channel: textField, delivered: booleanField },
    ...{ status: nullable('integer'), problem: nullable('string') },
  }),
  HoldChange: object({ connection: textField, target: textField, changed: booleanField }),
  Operation: object(
    {
      id: textField,
      kind: { enum: ['plan', 'reconcile', 'apply', 'doctor', 'repair'] },
      target: nullable('string'),
      by: textField,
      state: { enum: ['running', 'succeeded', 'failed', 'cancelled', 'lost'] },
      ...{ startedAt: unixMs, updatedAt: unixMs, endedAt: nullable('integer') },
      progress: arrayOf(
        object({
          connection: textField,
          target: nullable('string'),
          phase: textField,
          done: integerField,
          total: integerField,
        }),
      ),
      ...{ outcome: nullable('string'), message: nullable('string') },
      result: { description: 'Of one operation, once it has succeeded; kept for an hour.' },
    },
    [
      'id',
      'kind',
      'target',
      'by',
      'state',
      'startedAt',
      'updatedAt',
      'endedAt',
      'progress',
      'outcome',
      'message',
    ],
  ),
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
    ...object({ connection: textField, ...proof }),
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
  ProvisioningRecord: object(
    {
      ...{
        id: textField,
        activityDateTime: dateTime,
        connection: textField,
        target: textField,
        changeId: textField,
      },
      provisioningAction: { enum: ['create', 'update', 'delete', 'disable', 'other'] },
      operation: textField,
      sourceIdentity: object({ id: textField, displayName: textField, identityType: textField }),
      modifiedProperties: arrayOf(object({ displayName: textField })),
      provisioningStatusInfo: object({ status: { enum: ['success', 'failure', 'skipped', 'warning'] } }),
      request: { type: ['object', 'null'] },
    },
    [
      ...['id', 'activityDateTime', 'connection', 'target', 'changeId', 'provisioningAction', 'operation'],
      ...['sourceIdentity', 'modifiedProperties', 'provisioningStatusInfo', 'request'],
    ],
  ),
  Token: object({
    ...{ connection: textField, name: textField },
    source: { enum: ['settings', 'stored'] },
    state: { enum: ['valid', 'expired'] },
    ...{ createdAt: nullable('string'), createdBy: nullable('string') },
    ...{ expiresAt: nullable('string'), lastUsedAt: nullable('string') },
  }),
  Link: object({
    ...{ connection: textField, target: textField, ref: textField },
    kind: { enum: ['User', 'Group'] },
    ...{ name: nullable('string'), externalId: nullable('string'), platformId: nullable('string') },
    ...{
      account: nullable('string'),
      origin: nullable('string'),
      active: nullable('boolean'),
      departed: booleanField,
    },
    ...{ lastWrite: nullable('string'), condition: nullable('string') },
  }),
  NewToken: object({
    ...{
      connection: textField,
      name: textField,
      secret: textField,
      createdAt: dateTime,
      expiresAt: nullable('string'),
    },
  }),
} satisfies Record<string, JsonSchema>;
