// Tells how a run ended, after its marked resources were synced: what is held, needs a person, or was not compared.
import type { Conflicts } from '../../directory/outbox/runs.ts';
import type { Ref } from '../../directory/records.ts';
import type { ReconcileScope } from '../scope.ts';
import type { Plan } from '../plan.ts';
import { blockedEnd, CONVERGED, toHeld, type End } from './ends.ts';
import { untilApplied, type AwaitOptions } from './until-applied.ts';
import { counted } from '../../support/counted.ts';

interface Applied {
  plan: Plan;
  /** The lists of the platform were complete, and every resource was compared. */
  isProven: boolean;
  /** Resources that the run marked so that their syncs decide anew about held, rejected or refused changes (`refsToJudgeAnew`). */
  toJudge: Ref[];
  /** Other resources that the run marked. */
  synced: Ref[];
  /** Outcome of the syncs of `synced`. */
  end: End;
}

/** Returns the outcome and the message of a run after its marked resources were synced. */
export async function endOfRun(scope: ReconcileScope, options: AwaitOptions, applied: Applied): Promise<End> {
  const { plan, isProven, toJudge, synced, end } = applied;
  // Waits for `toJudge` also if a change is held, because without a worker only this run syncs these resources.
  const mustWait = toJudge.length > 0 && end.outcome !== 'failed';
  const judged = mustWait ? await untilApplied(scope, options, toJudge) : CONVERGED;
  // Any other outcome already says why the platform is not as desired.
  if (!isAsFarAsPossible(end)) return toJudge.length === 0 || judged.isStopped ? end : withApplied(end);
  if (!isProven) return unproven(plan);
  if (!isAsFarAsPossible(judged)) return synced.length === 0 ? judged : withApplied(judged);
  return (await whatIsHeld(scope)) ?? needingPerson(scope, plan, [...toJudge, ...synced]);
}

const isAsFarAsPossible = ({ outcome }: End): boolean => outcome === 'converged' || outcome === 'blocked';

/** Returns the end of a run of which other changes were applied before it was stopped. */
const withApplied = ({ isStopped: _, ...end }: End): End => end;

/** Returns the end of a run that could not compare every resource, so that differences may be left that it has not seen. */
const unproven = (plan: Plan): End => ({ outcome: 'unproven', message: whyUnproven(plan) });

/** Returns the end `held` if the guard still holds a change, because the platform is not as desired then; else undefined. */
async function whatIsHeld(scope: ReconcileScope): Promise<End | undefined> {
  const approval = await scope.outbox.guardStore.open();
  return approval && toHeld(scope, approval, { letters: (await scope.outbox.blocked()).length });
}

/** Returns the conflicts of resources that the run did not sync and that are no dead letters. */
export async function conflictsLeft(
  { outbox }: ReconcileScope,
  { entries }: Plan,
  synced: readonly Ref[],
): Promise<Conflicts | undefined> {
  const known = new Set<Ref | null>([...(await outbox.blocked()).map(({ ref }) => ref), ...synced]);
  const left = entries.filter(({ action, ref }) => action === 'conflict' && !known.has(ref));
  const [first] = left;
  return first && { count: left.length, reason: first.reason };
}

/** Returns the end `blocked` if dead letters, people behind a refused group, or other conflicts need a person, else `converged`. */
async function needingPerson(scope: ReconcileScope, plan: Plan, synced: readonly Ref[]): Promise<End> {
  const { outbox } = scope;
  const letters = (await outbox.blocked()).length;
  // Also people whom this run did not mark: a plan lists their changes as waiting. After a drop no dead letter tells of the group.
  const waiting = (await outbox.behindRefused()).length;
  const conflicts = (await conflictsLeft(scope, plan, synced))?.count ?? 0;
  return letters + waiting + conflicts === 0 ? CONVERGED : blockedEnd({ letters, waiting, conflicts });
}

/** Largest number of unread resources that the message names. */
const MOST_NAMES = 3;

/** Returns for operators why the lists do not prove that every resource was compared. */
export function whyUnproven({ proof, unknown, unread = [] }: Plan): string {
  // Both lists may be incomplete for the same reason.
  const reasons = [...new Set([proof.users.reason, proof.groups.reason])].filter(
    (reason) => reason !== undefined,
  );
  const names = unread.slice(0, MOST_NAMES).map(({ name }) => name);
  const more = unknown > MOST_NAMES ? ' …' : '';
  if (unknown > 0)
    reasons.push(`${counted(unknown, 'resource')} could not be read (${names.join(', ')}${more})`);
  return reasons.join('; ');
}
