// Defines the named JSON Schemas of the admin API for its OpenAPI document.
import { EXCEPTION_REASONS } from '../../directory/outbox/exceptions.ts';
import { PRIORITIES } from '../../directory/records.ts';
import { DESTRUCTIVE_KINDS } from '../../guard/judge.ts';
import { APPROVAL_SCHEMAS } from './approval-schemas.ts';
import { breakerSchema, fleetSchema, loadSchema } from './fleet-schemas.ts';
import { proofFields, REPORT_SCHEMAS } from './report-schemas.ts';
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
      proof: { oneOf: [{ type: 'null' }, object(proofFields)] },
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
  ...REPORT_SCHEMAS,
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
