// Defines the named JSON Schemas of the admin API for its OpenAPI document.
import { CHAIN } from '../../verify-access/report.ts';
import type { Verdict } from '../../explain/explanation.ts';
import { LANES } from '../../directory/records.ts';
import { DESTRUCTIVE_KINDS } from '../../guard/judge.ts';
import type { JsonSchema } from './route.ts';

export const text = { type: 'string' };
export const whole = { type: 'integer' };
export const flag = { type: 'boolean' };
const orNull = (type: string): JsonSchema => ({ type: [type, 'null'] });
const dateTime = { type: 'string', format: 'date-time' };
const unixMs = { type: 'integer', description: 'Unix milliseconds' };

/** Schema of an answer: `required` properties are always present, and later versions may add properties. */
export const object = (properties: Record<string, JsonSchema>, required?: string[]): JsonSchema => ({
  type: 'object',
  properties,
  required: required ?? Object.keys(properties),
});
/** Schema of a body; unknown properties are refused. */
export const body = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  ...object(properties, required),
  additionalProperties: false,
});
export const arrayOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
export const refTo = (name: keyof typeof SCHEMAS): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const VERDICTS: Verdict[] = [
  ...(['asDesired', 'onItsWay', 'held', 'stopped', 'needsPerson'] as const),
  ...(['leftAlone', 'notForTarget', 'differs', 'gone'] as const),
];
const kinds = Object.fromEntries(DESTRUCTIVE_KINDS.map((kind) => [kind, whole]));

const eventStanding = object({
  ...{ pending: whole, oldestMs: { type: 'number' }, kept: whole },
  ...{ delivered: whole, refused: whole, dropped: whole, problem: orNull('string') },
});

const coverage = object({
  ...{ desired: whole, linked: whole, seen: orNull('integer'), pending: whole, held: whole },
  ...{ deadLetters: whole, exceptions: whole, missing: whole },
});

const proof = {
  ...{ startedAt: unixMs, endedAt: unixMs, by: text, repair: flag, faults: whole },
  findings: arrayOf(
    object({
      ...{ family: text, count: whole, repaired: whole, examples: arrayOf(text) },
      fault: { enum: ['missing', 'wrong', 'surplus', 'damaged', 'doubled', 'lost'] },
    }),
  ),
};

export const SCHEMAS = {
  Problem: {
    ...object({ type: text, title: text, status: whole, detail: text }),
    description: 'RFC 9457; detail says what to do',
  },
  TargetStatus: object(
    {
      ...{ connection: text, target: text, users: whole, groups: whole },
      faults: orNull('integer'),
      proof: { oneOf: [{ type: 'null' }, object(proof)] },
      coverage: object({ users: coverage, groups: coverage }),
      ...{ dirty: whole, inflight: whole, blocked: whole, oldestMs: { type: 'number' } },
      lanes: object(Object.fromEntries(LANES.map((lane) => [lane, whole]))),
      breaker: object({ open: flag, since: unixMs, status: whole }, ['open']),
      guard: object({ held: whole, ...kinds }),
      hold: { oneOf: [{ type: 'null' }, object({ since: unixMs, by: text, note: text }, ['since', 'by'])] },
      hasMoved: flag,
      reconcile: object({ last: { type: ['object', 'null'] }, lastSuccessAt: orNull('integer') }),
      events: { oneOf: [{ type: 'null' }, eventStanding] },
    },
    [
      'connection',
      'target',
      'users',
      'groups',
      'faults',
      'proof',
      'coverage',
      'dirty',
      'inflight',
      'blocked',
      'oldestMs',
      'lanes',
      'breaker',
      'guard',
      'hold',
      'hasMoved',
      'reconcile',
      'events',
    ],
  ),
  Approval: object(
    {
      ...{ id: text, connection: text, target: text },
      state: { enum: ['held', 'approved', 'rejected'] },
      ...{ openedAt: dateTime, expiresAt: dateTime, at: dateTime, by: text },
      kinds: object(kinds),
      items: arrayOf({ $ref: '#/components/schemas/HeldChange' }),
    },
    ['id', 'connection', 'target', 'state', 'kinds'],
  ),
  HeldChange: object(
    {
      kind: { enum: DESTRUCTIVE_KINDS },
      ...{ ref: text, subject: text, name: text, member: text, place: whole, reason: text },
    },
    ['kind', 'ref', 'name'],
  ),
  RefusedEvent: object(
    {
      ...{ connection: text, id: text, at: dateTime, resource: text, version: whole },
      ...{ what: arrayOf(text), names: arrayOf(text), err: text, description: text },
    },
    ['connection', 'id', 'at', 'resource', 'what', 'names', 'err', 'description'],
  ),
  DeadLetter: object({
    ...{ connection: text, target: text, ref: text },
    kind: { enum: ['User', 'Group'] },
    ...{ name: text, since: dateTime, reason: text, message: text, status: orNull('integer') },
  }),
  Chosen: object({ count: whole, resources: arrayOf(text) }),
  OrderGiven: object({ connection: text, target: text, changed: flag }),
  Operation: object(
    {
      id: text,
      kind: { enum: ['plan', 'reconcile', 'apply', 'doctor', 'repair'] },
      target: orNull('string'),
      by: text,
      state: { enum: ['running', 'succeeded', 'failed', 'cancelled', 'lost'] },
      ...{ startedAt: unixMs, updatedAt: unixMs, endedAt: orNull('integer') },
      progress: arrayOf(
        object({ connection: text, target: orNull('string'), phase: text, done: whole, total: whole }),
      ),
      ...{ outcome: orNull('string'), message: orNull('string') },
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
        ...{ connection: text, target: text, ref: text, id: text, name: text },
        kind: { enum: ['User', 'Group'] },
        verdict: { enum: VERDICTS },
        ...{ summary: text, reasons: arrayOf(text) },
        values: arrayOf(object({ name: text, state: text })),
        memberships: arrayOf(object({ ref: text, name: text, state: text })),
        timeline: arrayOf(object({ at: dateTime, event: text, text })),
        log: arrayOf({ type: 'object' }),
      },
      [
        ...['connection', 'target', 'ref', 'kind', 'id', 'name', 'verdict', 'summary', 'reasons', 'stored'],
        ...['values', 'link', 'condition', 'mark', 'memberships', 'guard', 'policy', 'timeline', 'log'],
      ],
    ),
    description: 'First plain sentences, then all that is known.',
  },
  Finding: object({
    ...{ area: text, message: text, advice: orNull('string') },
    level: { enum: ['ok', 'warning', 'error'] },
  }),
  ProofReport: {
    ...object({ connection: text, ...proof }),
    description: 'One pass over derived data; faults counts the entries that were not repaired.',
  },
  AccessReport: {
    ...object({
      ...{ ok: flag, asked: text, notes: arrayOf(text) },
      person: object({ connection: text, target: text, ref: text, userName: text }),
      chain: arrayOf(
        object(
          {
            stage: { enum: CHAIN },
            ...{ ok: flag, at: dateTime, detail: text },
            ...{ afterMs: { type: 'number' }, tookMs: { type: 'number' } },
          },
          ['stage', 'detail'],
        ),
      ),
      differences: arrayOf(object({ name: text }, ['name'])),
      ...{ account: orNull('object'), securityContext: orNull('object'), deployment: orNull('object') },
      ...{ entities: orNull('array'), query: orNull('object') },
    }),
    description: 'A link without ok was not looked at, because one before it is missing.',
  },
  SyncReport: object(
    {
      ...{ connection: text, target: text, ref: text, name: text, dryRun: flag },
      differences: { type: ['array', 'null'], items: { type: 'object' } },
      owed: { type: 'object' },
      steps: arrayOf({ type: 'object' }),
      outcome: { enum: ['equal', 'held', 'waiting', 'needsPerson'] },
      message: text,
    },
    ['connection', 'target', 'ref', 'name', 'dryRun', 'differences', 'owed', 'steps'],
  ),
  ProvisioningRecord: object(
    {
      ...{ id: text, activityDateTime: dateTime, connection: text, target: text, changeId: text },
      provisioningAction: { enum: ['create', 'update', 'delete', 'disable', 'other'] },
      operation: text,
      sourceIdentity: object({ id: text, displayName: text, identityType: text }),
      modifiedProperties: arrayOf(object({ displayName: text })),
      provisioningStatusInfo: object({ status: { enum: ['success', 'failure', 'skipped', 'warning'] } }),
      request: { type: ['object', 'null'] },
    },
    [
      ...['id', 'activityDateTime', 'connection', 'target', 'changeId', 'provisioningAction', 'operation'],
      ...['sourceIdentity', 'modifiedProperties', 'provisioningStatusInfo', 'request'],
    ],
  ),
  Token: object({
    ...{ connection: text, name: text },
    source: { enum: ['settings', 'stored'] },
    state: { enum: ['valid', 'expired'] },
    ...{ createdAt: orNull('string'), createdBy: orNull('string') },
    ...{ expiresAt: orNull('string'), lastUsedAt: orNull('string') },
  }),
  Link: object({
    ...{ connection: text, target: text, ref: text },
    kind: { enum: ['User', 'Group'] },
    ...{ name: orNull('string'), externalId: orNull('string'), platformId: orNull('string') },
    ...{ account: orNull('string'), origin: orNull('string'), active: orNull('boolean'), departed: flag },
    ...{ lastWrite: orNull('string'), condition: orNull('string') },
  }),
  NewToken: object({
    ...{ connection: text, name: text, secret: text, createdAt: dateTime, expiresAt: orNull('string') },
  }),
} satisfies Record<string, JsonSchema>;
