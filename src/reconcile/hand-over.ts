// Moves the folders, workbooks and reports of closed accounts to the handover folder: notes each item, moves it, and reads it
// back (ADR 0025).
import { itemKey, type HandedItem, type HandoverHead } from '../directory/outbox/handover-store.ts';
import { parseRef } from '../directory/records.ts';
import { PlatformResponse } from '../platform/errors.ts';
import type { Resource } from '../scim/index.ts';
import { counted } from '../support/counted.ts';
import { visible } from '../support/visible.ts';
import { giveBack } from './give-back.ts';
import {
  findHandoverPlace,
  platformProblem,
  readOwnedItems,
  type HandoverPlace,
  type OwnedItem,
} from './handover-place.ts';
import { contentOfPersonFolder, handoverEntry, whyStopped, type HandoverOptions } from './handover-steps.ts';
import {
  DAY_MS,
  isClosed,
  protectedNames,
  type HandoverSection,
  type PlannedHandover,
} from './plan-handover.ts';
import type { ReconcileScope } from './scope.ts';

/** Largest number of characters of a folder name that come from the person's name. */
const MOST_NAME = 200;

/**
 * Moves the planned folders, workbooks and reports of closed accounts to the handover folder, and those of people who are
 * active again back to where they were.
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
  const done = { moved: 0, returned: 0, refused: 0 };
  /** Returns the reason why the handover stopped; undefined: everything due was done. */
  const moveAll = async (): Promise<string | undefined> => {
    if (section.problem !== null) return section.problem;
    for (const { ref } of returning) {
      const back = await giveBack(scope, ref, options);
      done.returned += back.returned;
      if (back.problem !== undefined) return back.problem;
    }
    if (due.length === 0) return undefined;
    const place = await findHandoverPlace(scope.target.client.workspace, setting, options);
    if (place.kind === 'problem') return place.problem;
    const accounts = new Set(due.map(({ account }) => account));
    const owned = await readOwnedItems(scope.target.client.workspace, place, accounts, options);
    for (const person of due) {
      const planned = new Set(person.items.map(itemKey));
      const items = (owned.get(person.account) ?? []).filter((item) => planned.has(itemKey(item)));
      const end = await handOverPerson(scope, place, person, items, options);
      done.moved += end.moved;
      done.refused += end.refused;
      if (end.problem !== undefined) return end.problem;
    }
    return undefined;
  };
  const problem = await moveAll().catch((error: unknown) => {
    if (options.signal.aborted) throw options.signal.reason;
    return platformProblem(error);
  });
  if (problem !== undefined)
    options.logger.warn({ reason: problem }, 'the handover of closed accounts stopped');
  const parts = [
    ...(done.moved > 0 ? [`handed over ${counted(done.moved, 'item')}`] : []),
    ...(done.returned > 0 ? [`gave back ${counted(done.returned, 'item')}`] : []),
    ...(done.refused > 0 ? [`the platform refused the move of ${counted(done.refused, 'item')}`] : []),
    ...(problem === undefined ? [] : [`the handover stopped: ${problem}`]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** Returns whether the platform refuses the move of one item, so that other items can still be moved. */
const isRefusalOfItem = (error: unknown): boolean =>
  error instanceof PlatformResponse && [400, 403, 404].includes(error.status);

/** How the handover of one person ended. */
interface Ended {
  /** Numbers of items. */
  moved: number;
  refused: number;
  /** Reason why the handovers stop, as a sentence. */
  problem?: string;
}

/** Moves the items of one person. @throws errors that are not of the platform, and the reason of an abort */
async function handOverPerson(
  scope: ReconcileScope,
  place: HandoverPlace,
  person: PlannedHandover,
  owned: OwnedItem[],
  options: HandoverOptions,
): Promise<Ended> {
  const { handovers } = scope;
  const { ref } = person;
  const nothing: Ended = { moved: 0, refused: 0 };
  const stopped = await whyStopped(scope, options.signal);
  if (stopped !== undefined) return { ...nothing, problem: stopped };
  const begun = await beginHandover(scope, place, person, options);
  // The account is open or has changed since the plan.
  if (!begun) return nothing;
  // The account owns nothing any more, and no earlier run left an item to confirm.
  if (owned.length === 0 && !begun.items.some(({ state }) => state === 'planned')) {
    await handovers.note(ref, { head: { ...begun.head, state: 'moved', endedAt: scope.clock.now() } });
    return nothing;
  }
  const folder = await personFolder(scope, place, ref, begun.head, options);
  const head: HandoverHead = { ...begun.head, folder: folder.id, folderName: folder.name };
  const known = new Map(begun.items.map((item) => [itemKey(item), item]));
  const items = owned.map((item): HandedItem => {
    const { type, id, name, from } = item;
    const before = known.get(itemKey(item));
    return {
      type,
      id,
      name,
      from,
      state: 'planned',
      // The reason of an earlier refusal is kept until the move is tried again, so that the same refusal is not logged twice.
      ...(before?.state === 'refused' ? { reason: before.reason ?? '' } : {}),
    };
  });
  // The items are stored before the first move, so that a crash in between can be continued and taken back.
  await handovers.note(ref, { head, items });
  const refused = new Map<string, string>();
  let problem: string | undefined;
  for (const item of items) {
    problem = await whyStopped(scope, options.signal);
    if (problem !== undefined) break;
    try {
      const { type, id } = item;
      await scope.target.client.workspace.move(head.deployment, { type, id, folderId: folder.id }, options);
    } catch (error) {
      if (isRefusalOfItem(error)) {
        refused.set(itemKey(item), platformProblem(error));
        continue;
      }
      // Another failure of the platform would meet the next items too, so the moves stop. Other errors are thrown.
      problem = platformProblem(error);
      break;
    }
  }
  // Items that a crashed run planned and that the account no longer shows. Each was moved to the folder by that run, or
  // elsewhere by another user.
  const current = new Set(items.map(itemKey));
  const interrupted = begun.items.filter((item) => item.state === 'planned' && !current.has(itemKey(item)));
  const ended = await confirmMoves(
    scope,
    ref,
    head,
    [...interrupted, ...items],
    { current, refused },
    options,
  );
  if (problem === undefined && ended.open === 0)
    await handovers.note(ref, {
      head: { ...head, state: 'moved', endedAt: scope.clock.now(), refused: refused.size },
    });
  return { moved: ended.moved, refused: refused.size, ...(problem === undefined ? {} : { problem }) };
}

/**
 * Checks again that the account is closed and unchanged, and stores the start of the handover.
 * @returns undefined if nothing may be moved
 */
async function beginHandover(
  scope: ReconcileScope,
  place: HandoverPlace,
  person: PlannedHandover,
  options: HandoverOptions,
): Promise<{ head: HandoverHead; items: HandedItem[] } | undefined> {
  const { handovers, links, target, clock } = scope;
  const { ref } = person;
  const link = await links.get(target.name, ref);
  // The plan may be old: the account may have been activated, exchanged or protected since.
  const { afterDays = 0 } = target.policy.handover ?? {};
  if (!isClosed(link) || (link.account ?? person.account) !== person.account) return undefined;
  if (link.closedAt + afterDays * DAY_MS > clock.now()) return undefined;
  if (protectedNames(target.policy.users.protected)(link) || (await isInDoubt(scope, ref))) return undefined;
  const account = await target.client.users.get(link.id, options);
  // The platform's own state decides: an active account, or one of another person, keeps its items.
  if (account.active !== false || (account.externalId ?? null) !== (link.core?.externalId ?? null))
    return undefined;
  const stored = await handovers.read(ref);
  const isOver = stored?.head.state === 'returned';
  // The items of this closing were given back already, for example by order of an operator.
  if (isOver && stored.head.closedAt === link.closedAt) return undefined;
  const { startedAt = clock.now(), folder, folderName } = stored?.head ?? {};
  const isSamePlace = stored?.head.deployment === place.deployment;
  const head: HandoverHead = {
    state: 'moving',
    name: person.name,
    platformId: link.id,
    account: person.account,
    closedAt: link.closedAt,
    startedAt,
    deployment: place.deployment,
    ...(folderName === undefined || !isSamePlace ? {} : { folderName }),
    ...(folder === undefined || !isSamePlace ? {} : { folder }),
  };
  // The items of an earlier closing were given back: they are forgotten.
  await handovers.note(ref, { head, anew: isOver });
  return { head, items: isOver ? [] : (stored?.items ?? []) };
}

/** Returns whether a change of the person is pending, held or rejected, or the person is desired to be active. */
async function isInDoubt(
  { directory, outbox, target }: ReconcileScope,
  ref: PlannedHandover['ref'],
): Promise<boolean> {
  const { id } = parseRef(ref);
  const [status, record] = await Promise.all([outbox.resourceStatus(ref), directory.get('User', id)]);
  const isUnsynced = status.mark !== null || status.blockedSince !== null;
  if (isUnsynced) return true;
  if (status.guard.some(({ state }) => state !== 'approved')) return true;
  // The source deleted the person.
  if (!record) return false;
  // A record that cannot be read does not show that the person is to be inactive.
  if (record.damaged || !record.text) return true;
  const [groups = []] = await directory.groupsOf([id]);
  const desired = await target.mapping.user(JSON.parse(record.text) as Resource, id, groups);
  return desired.inScope && desired.active;
}

/** Finds or creates the folder of a person below the handover folder. The name is stored before the create. */
async function personFolder(
  { handovers, target }: ReconcileScope,
  { deployment, folder: parent }: HandoverPlace,
  ref: PlannedHandover['ref'],
  head: HandoverHead,
  options: HandoverOptions,
): Promise<{ id: string; name: string }> {
  const { workspace } = target.client;
  const children = new Map<string, string>();
  for await (const { id, name } of workspace.folders(deployment, parent.id, options)) children.set(id, name);
  const known = head.folder === undefined ? undefined : children.get(head.folder);
  if (head.folder !== undefined && known !== undefined) return { id: head.folder, name: known };
  const taken = new Set(children.values());
  const isCreateUnanswered = head.folderName !== undefined && head.folder === undefined;
  if (isCreateUnanswered) {
    // The name was free when it was chosen: a folder with it was created by a run whose answer was lost.
    const ours = [...children].find(([, name]) => name === head.folderName);
    if (ours) return { id: ours[0], name: ours[1] };
  }
  const base = visible(head.name).slice(0, MOST_NAME);
  let folderName = base;
  for (let count = 2; taken.has(folderName); count++) folderName = `${base} (${count})`;
  const { folder: _, ...without } = head;
  await handovers.note(ref, { head: { ...without, folderName } });
  const { id } = await workspace.createFolder(deployment, { name: folderName, parentId: parent.id }, options);
  await handovers.note(ref, { head: { ...without, folderName, folder: id } });
  return { id, name: folderName };
}

/**
 * Reads the person's folder, and stores what became of each item: moved, refused, or left where it is.
 * @param current keys of the items that the account still owned before the moves
 * @returns the numbers of moved items and of items whose place is not known yet
 */
async function confirmMoves(
  scope: ReconcileScope,
  ref: PlannedHandover['ref'],
  head: HandoverHead,
  items: HandedItem[],
  { current, refused }: { current: ReadonlySet<string>; refused: ReadonlyMap<string, string> },
  { signal, request }: HandoverOptions,
): Promise<{ moved: number; open: number }> {
  const to = head.folder ?? '';
  const content = await contentOfPersonFolder(scope, { deployment: head.deployment, folder: to }, { signal });
  const moved = items
    .filter((item) => content?.has(itemKey(item)))
    .map((item): HandedItem => ({ ...withoutReason(item), state: 'moved' }));
  const action = 'handOver' as const;
  await scope.handovers.note(ref, {
    items: moved,
    entries: moved.map((item) =>
      handoverEntry(scope, ref, head, item, { action, status: 'success', request, from: item.from, to }),
    ),
  });
  const missed = items.filter((item) => !content?.has(itemKey(item)));
  const left = missed.filter((item) => !current.has(itemKey(item)));
  await scope.handovers.note(ref, { items: left.map((item) => ({ ...withoutReason(item), state: 'left' })) });
  // Items that the platform refused to move.
  const kept = missed.flatMap((item): HandedItem[] => {
    const reason = refused.get(itemKey(item));
    return reason === undefined ? [] : [{ ...item, state: 'refused', reason }];
  });
  // Only a refusal that is new, or has a new reason, is logged, so that not every run logs it again.
  const fresh = kept.filter(
    (item) => items.find((one) => itemKey(one) === itemKey(item))?.reason !== item.reason,
  );
  await scope.handovers.note(ref, { items: kept.filter((item) => !fresh.includes(item)) });
  await scope.handovers.note(ref, {
    items: fresh,
    entries: fresh.map((item) =>
      handoverEntry(scope, ref, head, item, {
        action,
        status: 'failure',
        request,
        from: item.from,
        to,
        why: item.reason ?? '',
      }),
    ),
  });
  return { moved: moved.length, open: missed.length - kept.length - left.length };
}

/** Returns the item without the reason of a refusal. */
const withoutReason = ({ type, id, name, from, state }: HandedItem): HandedItem => ({
  type,
  id,
  name,
  from,
  state,
});
