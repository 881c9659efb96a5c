// Explains the handover of a person at one target: the items that will be moved and when, or that were moved.
import { findHandoverPlace, type HandoverSetting } from '../reconcile/handover/handover-place.ts';
import {
  protectedNames,
  DAY_MS,
  isClosed,
  isOpenAgain,
  onHoldText,
} from '../reconcile/handover/plan-handover.ts';
import type { Handover } from '../directory/outbox/handover-store.ts';
import type { Link } from '../directory/outbox/link.ts';
import type { Ref } from '../directory/records.ts';
import { isStoreFailure } from '../directory/redis/why-away.ts';
import type { FoundResource } from '../ops/find.ts';
import { toListedHandover, type ListedHandover } from '../ops/handover.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { counted } from '../support/counted.ts';
import { timeLimit } from '../support/time-limit.ts';
import { isoTime } from '../support/sources.ts';
import { deletionDue, handoverWaitEnd } from '../sync/user/deletion-due.ts';

export interface HandoverExplanation {
  /**
   * `later`, `due`: the handover has not begun, and its time is still to come or has come. Other states are those of the command
   * handover list.
   */
  state: ListedHandover['state'] | 'later' | 'due';
  /** Time at which the account was closed, ISO 8601. */
  closedAt: string;
  /** Time of the move, ISO 8601: planned or done. */
  at: string;
  /** Name of the deployment with the handover folder. */
  deployment: string;
  /**
   * Before the handover the handover folder of the settings, afterwards the name of the person's folder; null: there is no such
   * folder.
   */
  folder: string | null;
  /** Number of moved items; null before the handover. */
  moved: number | null;
  /** One sentence for operators. */
  text: string;
}

/** Time to read the handover folder, milliseconds. */
const READ_TIMEOUT_MS = 3000;

/**
 * Returns the planned or stored handover of a person; null when there is none.
 * @param reads true: looks at the platform whether the handover folder is there. Without the folder nothing is moved, and the text
 *   says so
 */
export async function handoverOf(
  scope: ReconcileScope,
  { ref, deleted }: Pick<FoundResource, 'ref' | 'deleted'>,
  link: Link,
  reads: boolean,
): Promise<HandoverExplanation | null> {
  const setting = scope.target.policy.handover ?? null;
  const stored = await scope.handovers.read(ref);
  // A stored handover may belong to an earlier closing of the account.
  const awaitsHandover = stored?.head.closedAt !== link.closedAt;
  const isProtected = protectedNames(scope.target.policy.users.protected);
  // The items of a protected person are never moved.
  if (setting && awaitsHandover && isClosed(link) && !isProtected(link))
    return plannedHandover(scope, setting, { closedAt: link.closedAt, deletedAt: deleted?.deletedAt }, reads);
  return stored ? storedHandover(scope, { ref, link, stored }, reads) : null;
}

/** Why nothing is moved when the wait of a due deletion is over: no run hands over the work of an account that is to be deleted. */
const DELETED_FIRST =
  'the deletion of the account (users.deleteAfterDays) has waited for it and goes first now, so nothing is moved: the work stays where it is, without an owner';

/**
 * Explains a handover that has not begun. Times are Unix milliseconds.
 * @param times.closedAt when the account was closed
 * @param times.deletedAt when the source deleted the person; undefined: it did not
 */
async function plannedHandover(
  scope: ReconcileScope,
  setting: HandoverSetting & { afterDays: number },
  { closedAt, deletedAt }: { closedAt: number; deletedAt: number | undefined },
  reads: boolean,
): Promise<HandoverExplanation> {
  const at = closedAt + setting.afterDays * DAY_MS;
  const isDue = at <= scope.clock.now();
  const { deployment, folder } = setting;
  const { policy } = scope.target;
  const dueAt = deletionDue(policy, deletedAt) ?? Infinity;
  const waitEnd = handoverWaitEnd(policy, dueAt, { closedAt, head: undefined }) ?? dueAt;
  const isDeletionFirst = waitEnd <= scope.clock.now();
  const obstacle = isDeletionFirst ? DELETED_FIRST : await obstacleTo(scope, setting, reads);
  const when = isDue ? `is due since ${isoTime(at)}` : `is due on ${isoTime(at)}`;
  const text =
    obstacle === undefined
      ? `handover: ${isDue ? 'the next reconcile' : `the first reconcile after ${isoTime(at)}`} moves the workbooks, reports and top folders of the account below the folder ${folder} of the deployment ${deployment}; scim-bridge plan lists them`
      : `handover: it ${when}, and ${obstacle}`;
  return {
    state: isDue ? 'due' : 'later',
    closedAt: isoTime(closedAt),
    at: isoTime(at),
    deployment,
    folder,
    moved: null,
    text,
  };
}

async function storedHandover(
  scope: ReconcileScope,
  { ref, link, stored }: { ref: Ref; link: Link; stored: Handover },
  reads: boolean,
): Promise<HandoverExplanation> {
  const { connection, handovers, target } = scope;
  const setting = target.policy.handover ?? null;
  const listed = toListedHandover({ connection, target: handovers.target, ref }, stored);
  const { state, deployment, counts, by, closedAt } = listed;
  const folder = listed.folder?.name ?? null;
  const moved = counts.moved ?? 0;
  const at = listed.endedAt ?? listed.startedAt;
  // `where` is shown only after an item was moved, so the person's folder has a name then.
  const where = `the folder ${folder ?? '?'} of the deployment ${deployment}`;
  const isActive = isOpenAgain(link, stored.head);
  // Only a handover that is not complete, or is to be taken back by a run, still needs the folder of the settings.
  const obstacle =
    setting && (state === 'moving' || isActive) ? await obstacleTo(scope, setting, reads) : undefined;
  const notSet = `targets.${target.name}.handover is not set any more, so`;
  const undo = 'scim-bridge handover undo';
  const goesOn = setting
    ? (obstacle ?? 'the next reconcile continues')
    : `${notSet} nothing more is moved; ${undo} takes it back`;
  const back = setting
    ? (obstacle ?? 'so the next reconcile moves the work back')
    : `but ${notSet} no run moves the work back; ${undo} does`;
  const next = isActive
    ? `the person is active again, ${obstacle ? 'and ' : ''}${back}`
    : `${undo} takes it back`;
  const byRun = isActive && setting ? 'the next reconcile or ' : '';
  const texts: Record<ListedHandover['state'], string> = {
    moving: `handover: it began at ${at} and is not complete; ${goesOn}`,
    moved: movedText({ moved, refused: counts.refused ?? 0, where, at }, next),
    returning: `handover: the work is on its way back; ${obstacle ?? `${byRun}${undo} continues`}`,
    returned: `handover: the work was moved back to its places at ${at}${by === null ? '' : ` by order of ${by}`}`,
  };
  return { state, closedAt, at, deployment, folder, moved, text: texts[state] };
}

/** @param next what becomes of the moved items, as the end of the sentence */
function movedText(
  { moved, refused, where, at }: { moved: number; refused: number; where: string; at: string },
  next: string,
): string {
  const leftBehind =
    refused === 0
      ? ''
      : `; the platform refused the move of ${counted(refused, 'item')}: see scim-bridge handover list`;
  if (moved === 0)
    return refused === 0
      ? 'handover: the account owned nothing to be moved'
      : `handover: nothing was moved${leftBehind}`;
  return `handover: ${counted(moved, 'item')} moved to ${where} at ${at}${leftBehind}; ${next}`;
}

/**
 * Returns why nothing can be moved now, in words; undefined: no obstacle was found.
 * @param reads true: looks at the platform whether the handover folder is there
 */
async function obstacleTo(
  { outbox, target }: ReconcileScope,
  setting: HandoverSetting,
  reads: boolean,
): Promise<string | undefined> {
  const hold = await outbox.guardStore.onHold();
  if (hold) return `nothing is moved: ${onHoldText(target.name, hold)}`;
  if (!reads) return undefined;
  const signal = timeLimit(READ_TIMEOUT_MS);
  try {
    const place = await findHandoverPlace(target.client.workspace, setting, { signal });
    return place.kind === 'problem' ? `nothing is moved: ${place.problem}` : undefined;
  } catch (error) {
    // Each call takes from the request budget in Redis, so no call is made while Redis takes no writes.
    if (!signal.aborted && !isStoreFailure(error)) throw error;
    return `it could not be read now whether the folder ${setting.folder} of the deployment ${setting.deployment} is there`;
  }
}
