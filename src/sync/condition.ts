// Creates conditions of a resource (reason, message and time of transition), and the outcomes of resources without a usable record.
import { isAwaitingDecision, printFor, type Condition } from '../directory/outbox/link-condition.ts';
import type { DueWork } from '../directory/outbox/due-work.ts';
import type { SyncContext } from './context.ts';
import type { SyncOutcome } from './outcome.ts';

/** Request ids of decisions about held changes. */
const DECISION = /^(approval|rejection|withdrawal):/;

/** Reasons of conditions that a change of the target's settings may end. */
const BY_SETTINGS: ReadonlySet<string> = new Set([
  'Held',
  'AttributesNotWritten',
  'NotAdopted',
  'Conflict',
  'Refused',
  'TakenByConnection',
  'TemporaryName',
]);

/** Returns a new condition of the resource; `since` stays while the reason is the same. @param status HTTP status of a refusal */
export function condition(context: SyncContext, reason: string, message: string, status?: number): Condition {
  const before = context.link.condition;
  const since = before?.reason === reason ? before.since : context.clock.now();
  const created: Condition = { reason, message, since };
  if (status !== undefined) created.status = status;
  const { settings } = context.outbox;
  // `settings`: the print of the target's settings (settings-print.ts); '' when it is not known.
  if (BY_SETTINGS.has(reason) && settings !== '') created.settings = printFor(created, settings);
  return { ...created, ...(isAwaitingDecision(created) ? causeOf(context) : knownCause(context)) };
}

/** Returns a condition that other connections of the target may end. */
export function byConnections({ outbox }: SyncContext, created: Condition): Condition {
  const { settings } = outbox;
  return { ...created, byConnections: true, ...(settings !== '' && { settings }) };
}

/**
 * Returns the push or run that caused a held or rejected change; empty when only the decision about it is known. The cause is
 * kept until the source takes the change back, or deletes the person.
 */
export function causeOf(context: SyncContext): Pick<Condition, 'request' | 'accepted'> {
  const { gate, link, work } = context;
  // The noted cause is not about the closing of a leaver's account, so the present push or run is the cause.
  const isNewLeaver = gate.isLeaver && isAwaitingDecision(link.condition) && !link.condition.isLeaver;
  const known = isNewLeaver ? {} : knownCause(context);
  if (known.request !== undefined || DECISION.test(work.request)) return known;
  return { request: work.request, accepted: work.since };
}

/** Returns the cause that an earlier sync noted; empty if the guard has no change of the resource now. */
function knownCause({ link, work }: SyncContext): Pick<Condition, 'request' | 'accepted'> {
  const { request, accepted } = (work.hasGuardItem && link.condition) || {};
  return request === undefined || accepted === undefined ? {} : { request, accepted };
}

/** Returns whether a resource that is or may be linked has neither record nor tombstone; a sync must not delete anything for it. */
export const isRecordLost = ({ record, deletedAt, link }: DueWork): boolean =>
  record === undefined &&
  deletedAt === undefined &&
  (link.id !== undefined || link.tried !== undefined || link.mayExist !== undefined);

/** Returns the outcome that makes the resource a dead letter. @param status HTTP status of a refusal */
export const blockedBy = (
  context: SyncContext,
  reason: string,
  message: string,
  status?: number,
): Extract<SyncOutcome, { kind: 'blocked' }> => ({
  kind: 'blocked',
  condition: condition(context, reason, message, status),
});

/** Returns the outcome for a damaged record. Nothing is written until a push replaces the record. */
export const recordDamaged = (context: SyncContext): SyncOutcome =>
  blockedBy(context, 'RecordDamaged', 'its stored record is damaged: push it again, as a whole');

/** Returns the outcome for a lost record (`isRecordLost`). Nothing is written until the resource is pushed again. */
export const recordLost = (context: SyncContext): SyncOutcome =>
  blockedBy(context, 'RecordLost', 'its desired state is missing in Redis: push it again');
