// Explains the handover of a person at one target: what is moved when, or what was moved.
import { protectedNames, DAY_MS, isClosed, isOpenAgain } from '../reconcile/plan-handover.ts';
import type { Link } from '../directory/outbox/links.ts';
import type { Ref } from '../directory/records.ts';
import { toListedHandover, type ListedHandover } from '../ops/handover.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { counted } from '../support/counted.ts';

export interface HandoverExplanation {
  /** `later`, `due`: to be moved; the others as the command handover list prints them. */
  state: ListedHandover['state'] | 'later' | 'due';
  closedAt: string;
  /** Time of the move, ISO 8601: planned or done. */
  at: string;
  deployment: string;
  /** The handover folder of the settings, or the name of the person's folder. */
  folder: string | null;
  /** Number of moved items; null before the handover. */
  moved: number | null;
  /** One sentence for operators. */
  text: string;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** Returns null when no handover is stored and the settings plan none. Reads Redis only. */
export async function handoverOf(
  { clock, connection, handovers, target }: ReconcileScope,
  ref: Ref,
  link: Link,
): Promise<HandoverExplanation | null> {
  const setting = target.policy.handover ?? null;
  const stored = await handovers.read(ref);
  // A stored handover may belong to an earlier closing of the account.
  const awaitsHandover = stored?.head.closedAt !== link.closedAt;
  if (setting && awaitsHandover && isClosed(link) && !protectedNames(target.policy.users.protected)(link)) {
    const at = link.closedAt + setting.afterDays * DAY_MS;
    const { deployment, folder } = setting;
    return {
      state: at <= clock.now() ? 'due' : 'later',
      ...{ closedAt: iso(link.closedAt), at: iso(at), deployment, folder, moved: null },
      text: `handover: the first reconcile after ${iso(at)} moves the workbooks, reports and top folders of the account below the folder ${folder} of the deployment ${deployment}; scim-bridge plan lists them`,
    };
  }
  if (!stored) return null;
  const listed = toListedHandover({ connection, target: handovers.target, ref }, stored);
  const { state, deployment, counts, by, closedAt } = listed;
  const folder = listed.folder?.name ?? null;
  const moved = counts.moved ?? 0;
  const at = listed.endedAt ?? listed.startedAt;
  const where = `the folder ${folder ?? '?'} of the deployment ${deployment}`;
  const texts: Record<ListedHandover['state'], string> = {
    moving: `handover: it began at ${at} and is not complete; the next reconcile continues`,
    moved:
      moved === 0
        ? 'handover: the account owned nothing to be moved'
        : `handover: ${counted(moved, 'item')} moved to ${where} at ${at}` +
          (isOpenAgain(link, stored.head)
            ? '; the person is active again, so the next reconcile moves the work back'
            : `; scim-bridge handover undo takes it back`),
    returning:
      'handover: the work is on its way back; the next reconcile or scim-bridge handover undo continues',
    returned: `handover: the work was moved back to its places at ${at}${by === null ? '' : ` by order of ${by}`}`,
  };
  return { state, closedAt, at, deployment, folder, moved, text: texts[state] };
}
