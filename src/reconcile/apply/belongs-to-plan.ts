// Tells which held changes belong to a plan: those that it contains, and the deactivations for which its changes wait.
import type { Ref } from '../../directory/records.ts';
import { changeText, type Destruction } from '../../directory/guard/held-changes.ts';
import { isChange, type PlanEntry } from '../entry.ts';
import type { Plan } from '../plan.ts';
import { toDestruction } from '../unwritten/destructions.ts';

/** Returns a test of whether a destructive change is in the plan, or is the deactivation that a change of the plan waits for. */
export function removalsOf(plan: Plan): (item: Destruction) => boolean {
  const changes = plan.entries.filter(isChange);
  const items = [
    ...changes.flatMap((entry) => toDestruction(entry) ?? []),
    ...changes.flatMap((entry) => awaitedBy(entry) ?? []),
  ];
  const texts = new Set(items.map(changeText));
  return (item) => texts.has(changeText(item));
}

/** Returns the deactivation that has to be decided before an account is deleted or leaves a group. */
function awaitedBy({ action, kind, ref, member }: PlanEntry): Destruction | undefined {
  let account: Ref | null | undefined;
  if (action === 'delete' && kind === 'User') account = ref;
  if (action === 'removeMember') account = member?.ref;
  return account ? { kind: 'deactivate', ref: account } : undefined;
}
