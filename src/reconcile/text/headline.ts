// Formats the first line of a plan: how many changes of which sort; without changes, whether the platform is as desired.
import { ACTIONS, type PlanEntry } from '../entry.ts';
import { whyNothingMoves } from '../handover/plan-handover.ts';
import { handoverWords } from '../handover/render-handover.ts';
import { isReadWhole, type Plan } from '../plan.ts';
import { isToBeHeld } from '../unwritten/to-be-held.ts';
import { counted } from '../../support/counted.ts';
import { withoutExceptions } from './exception-words.ts';
import { actionCount } from './render-words.ts';

interface HeadlineOptions {
  driftOnly?: boolean;
  isDataLost?: boolean;
}

/**
 * Returns the first line of a plan.
 * @param changes entries that a run writes; `others`: those that none writes
 * @param options as in RenderOptions
 */
export function headline(
  plan: Plan,
  changes: PlanEntry[],
  others: PlanEntry[],
  options: HeadlineOptions,
): string {
  const work = handoverWords(plan.handover);
  const text = changes.length > 0 ? changesText(changes, work) : withoutChanges(plan, others, work, options);
  return `${plan.connection} → ${plan.target}: ${text}`;
}

/** Returns the number of changes, by action. @param work the handovers that are due, in words */
function changesText(changes: PlanEntry[], work: string | undefined): string {
  const parts = ACTIONS.flatMap((action) => {
    const count = changes.filter((entry) => entry.action === action).length;
    return count === 0 ? [] : [actionCount(action, count)];
  });
  const held = changes.filter(isToBeHeld).length;
  const besides = held === 0 ? '' : ` The guard is to hold ${held} of them: an operator has to approve.`;
  return `${counted(changes.length, 'change')}. ${[...parts, ...(work === undefined ? [] : [work])].join(', ')}.${besides}`;
}

/** Returns what is known of the platform when a run has nothing to write there but handovers. The strongest doubt comes first. */
function withoutChanges(
  plan: Plan,
  others: PlanEntry[],
  work: string | undefined,
  { driftOnly = false, isDataLost = false }: HeadlineOptions,
): string {
  const { coverage, exceptions, handover, proof, unknown } = plan;
  const also = work === undefined ? '' : ` Besides, ${work}, see below.`;
  const left = withoutExceptions(plan, others).filter(({ action }) => action !== 'unmanaged').length;
  if (coverage.users.missing + coverage.groups.missing > 0)
    return `no changes are known, but not everything is covered: run scim-bridge reconcile, which looks at what is missing.${also}`;
  // A hold is counted, as in the list below, and says nothing about the platform.
  const isOnHold = exceptions.items.some(({ reason }) => reason === 'OnHold');
  const isAsDesired = exceptions.total - (isOnHold ? 1 : 0) + left === 0;
  const parts = [
    ...(exceptions.total > 0 ? [counted(exceptions.total, 'exception')] : []),
    ...(left > 0 ? [`${counted(left, 'difference')} that no run changes`] : []),
  ];
  if (!isReadWhole({ proof, unknown }))
    return `no changes are known, but the platform could not be read whole${parts.length > 0 ? `, and there ${left + exceptions.total === 1 ? 'is' : 'are'} ${parts.join(' and ')}` : ''}, see below.${also}`;
  if (!isAsDesired)
    return `nothing to write${work === undefined ? '' : ' to accounts and groups'}, but the platform is not as desired: ${parts.join(' and ')}, see below.${also}`;
  if (isDataLost)
    return `no changes are known, because Redis came back empty: accounts of people and groups that were not pushed again are not compared.${also}`;
  if (driftOnly) return 'no changes by others.';
  if (work !== undefined) return `no changes of accounts and groups, but ${work}, see below.`;
  if (handover && whyNothingMoves(handover) !== null)
    return 'no changes. Accounts and groups are as desired, but the work of closed accounts is not handed over, see below.';
  if (isOnHold) return 'nothing to write. The platform is as desired, and all writes are stopped, see below.';
  return 'no changes. The platform is as desired.';
}
