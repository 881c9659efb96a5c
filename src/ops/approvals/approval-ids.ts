// Finds the ids and words for an advice about held or rejected changes: the id of the newest approval of a target, the id of the
// rejection of a resource, and, if the approval has expired, a sentence that no operator can decide it any more.
import type { Destruction, HeldChanges } from '../../directory/guard/held-changes.ts';
import { holdAdvice, judgedAnew, type Hold } from '../../directory/guard/operator-hold.ts';
import { isoTime } from '../../support/sources.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import type { ResourceStatus } from '../../directory/outbox/resource-status.ts';
import type { Ref } from '../../directory/records.ts';
import { countUndecidedMembers } from './present-condition.ts';

export interface ApprovalIds {
  /** Id of the newest approval, also of an expired one; undefined: there is none, but changes of a former one may be held still. */
  held: string | undefined;
  /** Whether changes of the target were held under an approval that has expired, and are not judged anew yet. */
  hasExpired: boolean;
  /**
   * Returns a sentence if the approval of the resource's held changes has expired, so that no operator can decide them; undefined:
   * an operator can decide them, or no approval of the target has expired.
   * @param status of the resource, if the caller has read it
   */
  expiredFor: (ref: Ref, status?: ResourceStatus) => Promise<string | undefined>;
  /**
   * Returns the id of the newest rejection for the resource; undefined: none is among the kept decisions.
   * @param change further fields of the rejected change; default: any change of the resource
   */
  rejectionOf: (ref: Ref, change?: Partial<Destruction>) => string | undefined;
}

/**
 * Returns words about held changes whose approval has expired, and when the guard judges them anew; null: there are none.
 * @param count number of these changes
 */
export const expiredText = (count: number, target: string, hold: Hold | undefined): string | null =>
  count > 0
    ? `the approval of ${count} of the held changes expired, and cannot be decided any more: ${judgedAnew(hold && holdAdvice(target, hold))}`
    : null;

/** Returns the words of `expiredText` about the changes that are held now, without `told` of them that the caller names. */
export async function readExpired(
  target: string,
  guardStore: Pick<Outbox['guardStore'], 'countHeld' | 'onHold'>,
  told = 0,
): Promise<string | null> {
  const [{ expired }, hold] = await Promise.all([guardStore.countHeld(), guardStore.onHold()]);
  return expiredText(expired - told, target, hold);
}

/** Reads the newest approval and the kept decisions of one target. */
export async function readApprovalIds(
  connection: string,
  { guardStore, resourceStatus, target }: Pick<Outbox, 'guardStore' | 'resourceStatus' | 'target'>,
): Promise<ApprovalIds> {
  const [open, decisions, { expired }] = await Promise.all([
    guardStore.open(),
    guardStore.decisions(),
    guardStore.countHeld(),
  ]);
  const hasExpired = expired > 0;
  // `decisions` has the newest first, so `find` returns the newest rejection of a resource.
  const rejections = decisions.filter(({ action }) => action === 'reject');
  const toPublicId = (found: { id: string } | undefined): string | undefined =>
    found && `${connection}.${found.id}`;
  return {
    held: toPublicId(open),
    hasExpired,
    expiredFor: async (ref, known) => {
      // Without an expired approval the status is not needed. Its read takes several commands for each change.
      if (!hasExpired) return undefined;
      const status = known ?? (await resourceStatus(ref));
      // Followers: members whose held deactivation an operator can decide, and with it their removal from this group.
      const { followers } = await countUndecidedMembers({ guardStore }, ref, status);
      return followers > 0 ? undefined : expiredSentence(target, guardStore, { open, guard: status.guard });
    },
    rejectionOf: (ref, { kind, subject } = {}) => {
      const isMeant = (item: Destruction): boolean =>
        item.ref === ref && item.kind === (kind ?? item.kind) && item.subject === (subject ?? item.subject);
      return toPublicId(rejections.find(({ items }) => items.some(isMeant)));
    },
  };
}

/**
 * Returns a sentence that the approval has expired, and when its changes are judged anew; undefined: it has not.
 * @param approvals `open`: the newest approval of the target. `guard`: states of the changes of a resource; if some have expired
 *   and none is held, they are of an earlier approval
 */
export async function expiredSentence(
  target: string,
  guardStore: Pick<Outbox['guardStore'], 'onHold'>,
  approvals: { open: HeldChanges | undefined; guard: readonly { state: string }[] },
): Promise<string | undefined> {
  const { open, guard } = approvals;
  const isNewestOver = open !== undefined && open.leftMs <= 0;
  // A newer approval may hold later changes before the expired ones are judged.
  const areOnlyOfFormer =
    guard.some(({ state }) => state === 'expired') && !guard.some(({ state }) => state === 'held');
  if (!isNewestOver && !areOnlyOfFormer) return undefined;
  const hold = await guardStore.onHold();
  const when = isNewestOver ? ` ${isoTime(open.expiresAt)}` : '';
  return `The approval expired${when} and cannot be decided any more: ${judgedAnew(hold && holdAdvice(target, hold))}.`;
}
