// Defines the named JSON Schemas of the admin API for its OpenAPI document. The TypeScript type that a schema names explains its
// fields.
import type { EventDelivery } from '../../directory/logs/event-stream.ts';
import type { Coverage } from '../../directory/outbox/coverage.ts';
import { EXCEPTION_REASONS, type ExceptionCounts } from '../../directory/outbox/exceptions.ts';
import type { Hold } from '../../directory/guard/operator-hold.ts';
import type {
  Conflicts,
  CoverageOfKinds,
  DriftCount,
  ExpectedRuns,
  RunReport,
} from '../../directory/outbox/runs.ts';
import type { LastProof } from '../../directory/proof/last-proof.ts';
import { PRIORITIES } from '../../directory/records.ts';
import { DESTRUCTIVE_KINDS } from '../../guard/judge.ts';
import type { DeadLetter } from '../../ops/dead-letters.ts';
import type { ExceptionView } from '../../ops/approvals/exceptions.ts';
import type { LinkRow } from '../../ops/links/link-rows.ts';
import type { TargetStatus } from '../../ops/status/status.ts';
import type { TokenView } from '../../tokens/operations.ts';
import { APPROVAL_SCHEMAS } from './approval-schemas.ts';
import { breakerSchema, fleetSchema, loadSchema } from './fleet-schemas.ts';
import { proofFields, REPORT_SCHEMAS } from './report-schemas.ts';
import type { JsonSchema } from './route.ts';
import {
  arrayOf,
  booleanField,
  dateTime,
  eachOf,
  integerField,
  kindField,
  nullable,
  object,
  objectOf,
  nullOr,
  recordOf,
  omittable,
  textField,
  unixMs,
} from './schema-fields.ts';

/** Returns a reference to a named schema. */
export const refTo = (name: keyof typeof SCHEMAS): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const eventDelivery = objectOf<EventDelivery>()({
  pending: integerField,
  oldestMs: { type: 'number' },
  ...eachOf(['kept', 'delivered', 'refused', 'dropped'], integerField),
  droppedAt: nullOr({ type: 'integer' }, 'Unix milliseconds'),
  problem: nullable('string'),
});

const coverage = objectOf<Coverage>()({
  desired: integerField,
  linked: integerField,
  seen: nullable('integer'),
  ...eachOf(['pending', 'held', 'deadLetters', 'exceptions', 'missing'], integerField),
});
const coverageOfKinds = objectOf<CoverageOfKinds>()({ users: coverage, groups: coverage });

const exceptionNumbers = eachOf(EXCEPTION_REASONS, integerField);
const exceptionCounts = objectOf<ExceptionCounts>()({
  total: integerField,
  oldestMs: { type: 'number' },
  ...exceptionNumbers,
  ages: object(exceptionNumbers),
});

const runReport = objectOf<RunReport>()({
  run: textField,
  startedAt: unixMs,
  endedAt: unixMs,
  users: integerField,
  groups: integerField,
  outcome: { enum: ['converged', 'drifted', 'held', 'blocked', 'unproven', 'incomplete', 'failed'] },
  counts: { ...recordOf(integerField), description: 'Entries of the plan by action.' },
  coverage: omittable(coverageOfKinds),
  drift: omittable({
    ...arrayOf(objectOf<DriftCount>()({ action: textField, cause: textField, count: integerField })),
    description: 'Differences that were caused at the platform.',
  }),
  conflicts: omittable({
    ...objectOf<Conflicts>()({ count: integerField, reason: textField }),
    description: 'Differences that no write resolves before a person has acted, with the reason of one.',
  }),
  exceptions: omittable(exceptionCounts),
  message: omittable(textField),
});

/** The schemas by their name in `components.schemas` of the document. */
export const SCHEMAS = {
  Problem: {
    ...object({
      type: textField,
      title: textField,
      status: integerField,
      detail: textField,
      errors: omittable({
        ...arrayOf(object({ path: textField, message: textField })),
        description: 'Of 400: one for each fault of the request; path such as /body/target.',
      }),
      errorId: omittable({ ...textField, description: 'Of 500: id of the line in the log.' }),
      resources: omittable({
        ...arrayOf(object({ connection: textField, ref: textField, name: omittable(textField) })),
        description: 'Of 409: resources of which one has to be named.',
      }),
      accounts: omittable({
        ...arrayOf({ type: 'object' }),
        description: 'Of 409 of /forget: as in its answer.',
      }),
    }),
    description: 'RFC 9457; detail says what to do',
  },
  TargetStatus: objectOf<TargetStatus>()({
    connection: textField,
    target: textField,
    users: integerField,
    groups: integerField,
    faults: nullable('integer'),
    proof: nullOr(objectOf<LastProof>()(proofFields)),
    coverage: coverageOfKinds,
    ...eachOf(['dirty', 'inflight', 'blocked'], integerField),
    oldestMs: { type: 'number' },
    priorities: object(eachOf(PRIORITIES, integerField)),
    load: loadSchema,
    breaker: breakerSchema,
    guard: objectOf<TargetStatus['guard']>()({
      held: integerField,
      ...eachOf(DESTRUCTIVE_KINDS, integerField),
      expired: {
        ...integerField,
        description: 'Held changes whose approval has expired, and that the guard has not judged anew.',
      },
      approvalExpired: {
        ...nullable('string'),
        description: 'When the `expired` changes are judged anew; null: there are none.',
      },
      expiresAt: nullable('string'),
      leftMs: nullable('integer'),
    }),
    hold: nullOr(objectOf<Hold>()({ since: unixMs, by: textField, note: omittable(textField) })),
    exceptions: exceptionCounts,
    hasMoved: booleanField,
    lostAttributes: arrayOf(textField),
    hasNewRules: booleanField,
    reconcile: objectOf<TargetStatus['reconcile']>()({
      last: nullOr(runReport),
      lastSuccessAt: nullable('integer'),
      expected: nullOr(objectOf<ExpectedRuns>()({ since: unixMs, gapMs: { type: 'number' } })),
      overdue: {
        ...nullable('string'),
        description: 'That a complete run is overdue, or none was complete yet; null: neither.',
      },
      next: {
        ...nullable('integer'),
        description: 'Next run of the schedule, Unix milliseconds; null: none, or no scheduler runs',
      },
    }),
    events: nullOr(eventDelivery),
    fleet: fleetSchema,
  }),
  ...APPROVAL_SCHEMAS,
  RefusedEvent: object({
    connection: textField,
    id: textField,
    at: dateTime,
    resource: textField,
    version: omittable(integerField),
    what: arrayOf(textField),
    names: arrayOf(textField),
    err: textField,
    description: textField,
  }),
  DeadLetter: objectOf<DeadLetter>()({
    ...eachOf(['connection', 'target', 'ref'], textField),
    kind: kindField,
    name: textField,
    since: dateTime,
    reason: textField,
    message: textField,
    status: nullable('integer'),
  }),
  Exception: objectOf<ExceptionView>()({
    connection: textField,
    target: textField,
    ref: { ...nullable('string'), description: 'Null for a target on hold.' },
    kind: { enum: ['User', 'Group', null] },
    reason: { enum: EXCEPTION_REASONS },
    name: textField,
    since: dateTime,
    message: textField,
    advice: textField,
  }),
  Selection: object({ count: integerField, resources: arrayOf(textField) }),
  NoticeTestResult: object({
    channel: textField,
    delivered: booleanField,
    status: nullable('integer'),
    problem: nullable('string'),
  }),
  HoldChange: object({
    connection: textField,
    target: textField,
    changed: booleanField,
    refused: omittable({
      ...textField,
      description: 'Why a release is refused: the target may be another tenant; and how its hold ends.',
    }),
  }),
  Operation: object({
    id: textField,
    kind: { enum: ['plan', 'reconcile', 'apply', 'doctor', 'repair'] },
    target: nullable('string'),
    by: textField,
    state: { enum: ['running', 'succeeded', 'failed', 'cancelled', 'lost'] },
    startedAt: unixMs,
    updatedAt: unixMs,
    endedAt: nullable('integer'),
    progress: arrayOf(
      object({
        connection: textField,
        target: nullable('string'),
        phase: textField,
        done: integerField,
        total: integerField,
      }),
    ),
    outcome: nullable('string'),
    message: nullable('string'),
    result: omittable({ description: 'Of one operation, once it has succeeded; kept for an hour.' }),
  }),
  ...REPORT_SCHEMAS,
  Token: objectOf<TokenView & { connection: string }>()({
    connection: textField,
    name: textField,
    source: { enum: ['settings', 'stored'] },
    state: { enum: ['valid', 'expired'] },
    ...eachOf(['createdAt', 'createdBy', 'expiresAt', 'lastUsedAt'], nullable('string')),
  }),
  Link: objectOf<LinkRow>()({
    ...eachOf(['connection', 'target', 'ref'], textField),
    kind: kindField,
    ...eachOf(['name', 'externalId', 'platformId', 'account', 'origin'], nullable('string')),
    active: nullable('boolean'),
    departed: booleanField,
    removed: booleanField,
    lastWrite: nullable('string'),
    condition: nullable('string'),
  }),
  NewToken: object({
    ...eachOf(['connection', 'name', 'secret'], textField),
    createdAt: dateTime,
    expiresAt: nullable('string'),
  }),
} satisfies Record<string, JsonSchema>;
