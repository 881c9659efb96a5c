// Moves the folders, workbooks and reports of closed accounts to the handover folder, and those of people who are active again
// back to their former places (ADR 0025). The files hand-over-person.ts and give-back.ts do so for one person.
import { itemKey } from '../../directory/outbox/handover-store.ts';
import { counted } from '../../support/counted.ts';
import { giveBack } from './give-back.ts';
import { handOverPerson } from './hand-over-person.ts';
import { findHandoverPlace, platformProblem, type HandoverPlace } from './handover-place.ts';
import { ownedItems, type OwnedItem } from './owned-items.ts';
import { whyStopped, type HandoverOptions } from './handover-steps.ts';
import type { HandoverSection, PlannedHandover } from './plan-handover.ts';
import type { ReconcileScope } from '../scope.ts';

/**
 * Moves the items of a plan's handover, until a problem stops it.
 * @returns the result for operators, with the reason if the handover stopped; undefined: nothing was due
 */
export async function handOver(
  scope: ReconcileScope,
  section: HandoverSection,
  options: HandoverOptions,
): Promise<string | undefined> {
  const due = section.people.filter(({ state }) => state === 'due');
  const returning = section.people.filter(({ state }) => state === 'return');
  const setting = scope.target.policy.handover;
  if (!setting || (due.length + returning.length === 0 && section.problem === null)) return undefined;
  const done = { moved: 0, returned: 0, refused: 0, unfinished: 0 };
  /** Returns the reason why the handover stopped; undefined: everything due was done. */
  const moveAll = async (): Promise<string | undefined> => {
    const stopped = (await whyStopped(scope, options.signal)) ?? section.hold ?? section.problem;
    if (stopped !== null) return stopped;
    for (const { ref } of returning) {
      const back = await giveBack(scope, ref, options);
      done.returned += back.returned;
      done.refused += back.refused;
      if (back.unconfirmed > 0) done.unfinished++;
      if (back.problem !== undefined) return back.problem;
    }
    if (due.length === 0) return undefined;
    const place = await findHandoverPlace(scope.target.client.workspace, setting, options);
    if (place.kind === 'problem') return place.problem;
    const owned = await readPlanned(scope, place, due, options);
    for (const person of due) {
      const end = await handOverPerson(scope, place, person, owned.get(person.account) ?? [], options);
      done.moved += end.moved;
      done.refused += end.refused;
      if (end.hasRest) done.unfinished++;
      if (end.problem !== undefined) return end.problem;
    }
    return undefined;
  };
  const problem = await moveAll().catch((error: unknown) => {
    if (options.signal.aborted) throw options.signal.reason;
    return platformProblem(error);
  });
  // The problem may quote the platform, which may name people, so only the report of the run contains it.
  if (problem !== undefined)
    options.logger.warn('the handover of closed accounts stopped: see scim-bridge status');
  const parts = [
    ...(done.moved > 0 ? [`handed over ${counted(done.moved, 'item')}`] : []),
    ...(done.returned > 0 ? [`gave back ${counted(done.returned, 'item')}`] : []),
    ...(done.refused > 0 ? [`the platform refused the move of ${counted(done.refused, 'item')}`] : []),
    ...(done.unfinished > 0
      ? [`the next run moves the rest of ${counted(done.unfinished, 'person', 'people')}`]
      : []),
    ...(problem === undefined ? [] : [`the handover stopped: ${problem}`]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** Returns by account those items of the plan that the account owns now. */
async function readPlanned(
  { target }: ReconcileScope,
  place: HandoverPlace,
  people: readonly PlannedHandover[],
  options: HandoverOptions,
): Promise<ReadonlyMap<string, OwnedItem[]>> {
  const planned = new Map(people.map(({ account, items }) => [account, new Set(items.map(itemKey))]));
  const owned = new Map([...planned.keys()].map((account): [string, OwnedItem[]] => [account, []]));
  for await (const { account, item } of ownedItems(
    target.client.workspace,
    place,
    new Set(planned.keys()),
    options,
  ))
    if (planned.get(account)?.has(itemKey(item))) owned.get(account)?.push(item);
  return owned;
}
