// Tells what an order to forget a person ends: a handover that is planned or not complete, or the possibility to take one back.
import type { HandoverStore } from '../../directory/outbox/handover-store.ts';
import type { Link } from '../../directory/outbox/link.ts';
import type { Ref } from '../../directory/records.ts';
import { DAY_MS, isClosed, protectedNames } from '../../reconcile/handover/plan-handover.ts';
import { isoTime } from '../../support/sources.ts';

/**
 * `planned`: the settings move the work of the account at `at` (ISO 8601). `unfinished`: `items` items are moved, and a run goes on
 * with the rest. `moved`: `items` items are in `folder`, and scim-bridge handover undo takes them back.
 */
export type LostHandover =
  { state: 'planned'; at: string } | { state: 'unfinished' | 'moved'; items: number; folder: string | null };

/** Settings of a target that decide about handovers. */
interface HandoverRules {
  handover?: { afterDays: number } | null;
  users: { protected: readonly string[] };
}

/** Returns the handover settings of a target; undefined: the settings do not have the target. */
export type HandoverRulesOf = (target: string) => HandoverRules | undefined;

/** Returns the handover that forgetting the person ends; null when nothing of the account is, or is to be, handed over. */
export async function readLostHandover(
  handovers: Pick<HandoverStore, 'read'>,
  { ref, link }: { ref: Ref; link: Link },
  rules: HandoverRules | undefined,
): Promise<LostHandover | null> {
  const stored = await handovers.read(ref);
  // False for a handover of an earlier closing: the person was active since, and may be handed over anew.
  const isOfThisClosing = stored !== undefined && stored.head.closedAt === link.closedAt;
  // The work of a returned handover is with the person again.
  if (stored && stored.head.state !== 'returned') {
    const { state, folderName = null } = stored.head;
    const items = stored.items.filter((item) => item.state === 'moved').length;
    if (state !== 'moved') return { state: 'unfinished', items, folder: folderName };
    if (isOfThisClosing) return items === 0 ? null : { state: 'moved', items, folder: folderName };
  }
  const setting = rules?.handover;
  if (!setting || isOfThisClosing || !isClosed(link) || protectedNames(rules.users.protected)(link))
    return null;
  return { state: 'planned', at: isoTime(link.closedAt + setting.afterDays * DAY_MS) };
}

/** Returns whether a reconcile still moves work of the account. */
export const isUnderWay = (handover: LostHandover | null): boolean =>
  handover !== null && handover.state !== 'moved';
