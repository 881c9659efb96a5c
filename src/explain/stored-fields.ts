// Converts what Redis stores about a resource and its target to the fields of an explanation.
import { BUT_NOT_ON_HOLD } from '../directory/guard/operator-hold.ts';
import { isKeyRefused, type BreakerState } from '../directory/outbox/breaker.ts';
import { presentMessage } from '../directory/outbox/condition-text.ts';
import type { Link } from '../directory/outbox/link.ts';
import { isBySettingsOfThen, refusalOf } from '../directory/outbox/link-condition.ts';
import type { Ref } from '../directory/records.ts';
import { isStoreFailure } from '../directory/redis/why-away.ts';
import type { ResourceStatus } from '../directory/outbox/resource-status.ts';
import { adviceFor } from '../ops/advice.ts';
import { readApprovalIds } from '../ops/approvals/approval-ids.ts';
import type { FoundResource } from '../ops/find.ts';
import { awaitsDecision } from '../reconcile/compare/done-changes.ts';
import { ownsKeyNoMore } from '../reconcile/unwritten/protection.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { Explanation } from './explanation.ts';
import { isoTime } from '../support/sources.ts';
import { timeLimit } from '../support/time-limit.ts';
import { givenUpText, isGivenUp } from '../sync/names/taken-by-connection.ts';
import { OWNER_OF_KEY } from '../sync/target.ts';
import { isProtectedName } from '../sync/user/protected-user.ts';

/** Time limit of the read of the owner of the platform key, milliseconds. */
const READ_TIMEOUT_MS = 3000;

/** Returns the times and identifying values of the record; null without one. */
export function storedOf({ record }: FoundResource): Explanation['stored'] {
  if (!record) return null;
  // A damaged record has no text.
  const { active, externalId } = JSON.parse(record.text || '{}') as { active?: boolean; externalId?: string };
  return {
    version: record.version,
    created: isoTime(record.created),
    lastModified: isoTime(record.lastModified),
    active: active ?? null,
    externalId: externalId ?? null,
  };
}

/** Returns the breaker and the pause of the target; null for each that delays no change. */
export function obstacleOf(state: BreakerState): Pick<Explanation, 'breaker' | 'pause'> {
  // Status 0: no answer. `since` is set while the breaker is open or the key is refused; else it is not shown.
  const { open, since = 0, status = 0, only = null, ofOtherKey = false, pause } = state;
  return {
    breaker: open || isKeyRefused(state) ? { open, since: isoTime(since), status, only, ofOtherKey } : null,
    pause: pause ? { ...pause, until: isoTime(pause.until) } : null,
  };
}

/** Returns the link with a value in place of each absent field. */
export const linkOf = (link: Link): Explanation['link'] => ({
  platformId: link.id ?? null,
  account: link.account ?? null,
  origin: link.origin ?? null,
  active: typeof link.core?.active === 'boolean' ? link.core.active : null,
  departed: link.departed === true,
  creating: link.tried !== undefined,
  attempts: link.attempts ?? 0,
  lastFailure: link.lastFailure ?? null,
  waitsForName: link.successionAttempts !== undefined,
  lastWrite: link.writtenAt === undefined ? null : isoTime(link.writtenAt),
});

/**
 * Returns whether the link protects the owner of the platform key, and the key has another owner now. False also while Redis takes
 * no writes, because a call to the platform takes from the request budget in Redis.
 */
const isKeyOfAnother = (scope: ReconcileScope, ref: Ref, link: Link): Promise<boolean> =>
  ownsKeyNoMore(scope, ref, link, timeLimit(READ_TIMEOUT_MS)).catch((error: unknown) => {
    if (isStoreFailure(error)) return false;
    throw error;
  });

/**
 * Returns the condition of the link with advice; null: the link has none. For a person who was protected as owner of the platform
 * key, the owner is read at the platform.
 */
export async function conditionOf(
  scope: ReconcileScope,
  ref: Ref,
  link: Link,
): Promise<Explanation['condition']> {
  const { connection, outbox, target } = scope;
  const { condition } = link;
  if (!condition) return null;
  // Print of the present settings; `condition.settings` is the print when the condition arose.
  const { settings } = outbox;
  const { reason, since, status, write } = condition;
  // At another tenant the key has another owner, and nothing is written there.
  const isRecognised = (await outbox.whyUnrecognised()) === undefined;
  if (isRecognised && (await isKeyOfAnother(scope, ref, link)))
    return {
      reason,
      message: `${OWNER_OF_KEY} at the last sync; the key has another owner now, and the next reconcile, or scim-bridge sync ${ref}, brings what the source wants${BUT_NOT_ON_HOLD}`,
      since: isoTime(since),
      status: null,
      advice: `Nothing: the next reconcile brings it, or scim-bridge sync ${ref}${BUT_NOT_ON_HOLD}.`,
    };
  // The advice promises a retry by a reconcile, and no reconcile retries a dead letter that an operator dropped.
  const isDeadLetter = (await outbox.resourceStatus(ref)).blockedSince !== null;
  if (isDeadLetter && (await isGivenUp(scope, ref, condition)))
    return {
      reason,
      message: givenUpText(ref),
      since: isoTime(since),
      status: null,
      advice: `Nothing: the next reconcile that repairs tries it again, or scim-bridge sync ${ref}${BUT_NOT_ON_HOLD}.`,
    };
  const message = presentMessage(condition, settings);
  const approvals = awaitsDecision(link) ? await readApprovalIds(connection, outbox) : undefined;
  const advice =
    isBySettingsOfThen(condition, settings) && reason !== 'Held'
      ? `The settings have changed since ${isoTime(since)}: scim-bridge sync ${ref} tries it again.`
      : adviceFor(reason, {
          ref,
          approvals,
          expired: await approvals?.expiredFor(ref),
          target: target.name,
          message,
          write,
        });
  return { reason, message, since: isoTime(since), status: status ?? null, advice };
}

/**
 * Returns a sentence about the refused last sync of a marked resource: while the target is on hold, no sync shows whether the
 * platform still refuses. Undefined: not refused, or `present` tells it.
 * @param present the link as `withPresentCondition` returns it
 * @param settings print of the present settings
 */
export function formerRefusalText(stored: Link, present: Link, settings: string): string | undefined {
  const refusal = refusalOf(stored);
  if (!refusal || refusalOf(present)) return undefined;
  const message = presentMessage(refusal, settings).replace(/\.$/, '');
  return `The last sync was refused, and the first sync after the end of the hold judges it anew: ${refusal.reason}: ${message}.`;
}

/** Returns the mark of the resource; null: it has none. */
export function markOf({ mark }: ResourceStatus): Explanation['mark'] {
  if (!mark) return null;
  const { generation, since, request, priority, state, dueAt } = mark;
  return {
    generation,
    since: isoTime(since),
    request,
    priority,
    state,
    nextTry: dueAt === null ? null : isoTime(dueAt),
  };
}

/** Returns the policy of the target, and whether `users.protected` lists the name. */
export function policyFor({ target }: ReconcileScope, name: string): Explanation['policy'] {
  const { policy, adopt, users } = target.policy;
  return {
    policy,
    adopt,
    deprovision: users.deprovision,
    deleteAfterDays: users.deleteAfterDays,
    activation: users.activation,
    protected: isProtectedName({ target }, name),
  };
}
