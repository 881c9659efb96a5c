// Finds the changes of a plan that an operator rejected: applying the plan does not write them.
import type { Destruction, GuardStore } from '../directory/guard/guard-store.ts';
import { parseRef } from '../directory/records.ts';
import type { DestructiveKind } from '../guard/judge.ts';
import { isChange, type Action, type PlanEntry } from './entry.ts';

const KIND_OF: Partial<Record<Action, DestructiveKind>> = {
  deactivate: 'deactivate',
  delete: 'delete',
  removeMember: 'removeMembers',
  clearAttribute: 'clearAttributes',
};

const PORTION = 1000;
const REASON = 'rejected by an operator, so it is not written: see exceptions';

/** Returns the entries; those that an operator rejected have the effect `report`. */
export async function withRejections(
  guardStore: Pick<GuardStore, 'areRejected'>,
  entries: PlanEntry[],
): Promise<PlanEntry[]> {
  const rejected = new Set<PlanEntry>();
  const asked = entries.flatMap((entry) => {
    const item = toDestruction(entry);
    return item ? [{ entry, item }] : [];
  });
  for (let start = 0; start < asked.length; start += PORTION) {
    const portion = asked.slice(start, start + PORTION);
    const found = await guardStore.areRejected(portion.map(({ item }) => item));
    portion.forEach(({ entry }, index) => found[index] && rejected.add(entry));
  }
  return entries.map((entry) =>
    rejected.has(entry) ? { ...entry, effect: 'report', reason: REASON } : entry,
  );
}

/** Returns the change in the form of the guard; undefined for a change that takes nothing away. */
function toDestruction(entry: PlanEntry): Destruction | undefined {
  const kind = KIND_OF[entry.action];
  const { ref, attribute, member } = entry;
  if (!kind || !ref || !isChange(entry)) return undefined;
  if (kind === 'clearAttributes')
    return attribute === undefined ? undefined : { kind, ref, subject: attribute };
  if (kind !== 'removeMembers') return { kind, ref };
  const subject = member?.ref ? parseRef(member.ref).id : member?.platformId && `@${member.platformId}`;
  return subject ? { kind, ref, subject } : undefined;
}
