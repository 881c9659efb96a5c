// Hands over the items of one closed account, in these steps: checks again that the account is closed (`beginHandover`), finds or
// makes the person's folder (`personFolder`), notes each item as planned, moves the items (`moveItems`), and reads the folder to
// see which arrived (`confirmMoves`). After a crash in between, the handover can be continued or taken back.
import type { Link } from '../../directory/outbox/link.ts';
import { itemKey, type HandedItem, type HandoverHead } from '../../directory/outbox/handover-store.ts';
import { visible } from '../../support/visible.ts';
import { platformProblem, type HandoverPlace } from './handover-place.ts';
import {
  contentOfPersonFolder,
  handoverEntry,
  isRefusalOfItem,
  whyStopped,
  type HandoverOptions,
} from './handover-steps.ts';
import { MOST_ITEMS, type OwnedItem } from './owned-items.ts';
import { type PlannedHandover, DAY_MS, isClosed, numberOf, protectedNames } from './plan-handover.ts';
import type { ReconcileScope } from '../scope.ts';
import { parseRef } from '../../directory/records.ts';
import type { Resource } from '../../scim/index.ts';

/** Largest number of characters of a folder name that come from the person's name. */
const MAX_NAME_LENGTH = 200;

/** A link of a closed account. */
type ClosedLink = Link & { closedAt: number; id: string };

/** How the handover of one person ended. */
interface Ended {
  /** Number of moved items. */
  moved: number;
  /** Number of items that the platform refused to move. */
  refused: number;
  /** Whether the account may own more items, which the next run moves. */
  hasRest?: boolean;
  /** Reason why the handovers stop, as a sentence; undefined: they go on. */
  problem: string | undefined;
}

/**
 * Moves the items of one person to the person's folder below the handover folder.
 * @param owned those items of the plan that the account owns now
 * @throws errors of the platform from other calls than the moves, errors that are not of the platform, and the reason of an abort
 */
export async function handOverPerson(
  scope: ReconcileScope,
  place: HandoverPlace,
  person: PlannedHandover,
  owned: OwnedItem[],
  options: HandoverOptions,
): Promise<Ended> {
  const { handovers } = scope;
  const { ref } = person;
  const problemBefore = await whyStopped(scope, options.signal);
  const nothing: Ended = { moved: 0, refused: 0, problem: problemBefore };
  if (problemBefore !== undefined) return nothing;
  const begun = await beginHandover(scope, place, person, options);
  // The account is open or has changed since the plan.
  if (!begun) return nothing;
  // The account owns nothing any more, and no earlier run left an item to confirm.
  if (owned.length === 0 && !begun.items.some(({ state }) => state === 'planned')) {
    await handovers.note(ref, { head: { ...begun.head, state: 'moved', endedAt: scope.clock.now() } });
    return nothing;
  }
  const folder = await personFolder(scope, place, ref, begun.head, options);
  const head = { ...begun.head, folder: folder.id, folderName: folder.name };
  const known = new Map(begun.items.map((item) => [itemKey(item), item]));
  const items = owned.map((item) => toPlanned(item, known.get(itemKey(item))));
  // The items are stored before the first move, so that after a crash the handover can be continued or taken back.
  await handovers.note(ref, { head, items });
  const { refused, problem } = await moveItems(scope, items, head, options);
  // Items that a crashed run planned and that the account no longer shows. Each was moved to the folder by that run, or
  // elsewhere by another user.
  const ownedKeys = new Set(items.map(itemKey));
  const interrupted = begun.items.filter((item) => item.state === 'planned' && !ownedKeys.has(itemKey(item)));
  const all = [...interrupted, ...items];
  const confirmed = await confirmMoves(scope, ref, head, all, { ownedBefore: ownedKeys, refused }, options);
  // The plan takes items that the platform refused before (`reason`) only after all others (`createItemChoice`). If it had no other
  // items and none was moved, another run would only meet the same refusals.
  const isAnyNew = items.some(({ reason }) => reason === undefined);
  const hasRest = person.items.length >= MOST_ITEMS && (isAnyNew || confirmed.moved > 0);
  // Refused items stay where they are, and the handover ends without them. Moves that are not confirmed, and items beyond the limit
  // of a run, keep the handover unfinished.
  if (problem === undefined && confirmed.unconfirmed === 0 && !hasRest)
    await handovers.note(ref, {
      head: { ...head, state: 'moved', endedAt: scope.clock.now(), refused: refused.size },
    });
  return { moved: confirmed.moved, refused: refused.size, hasRest, problem };
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
  const { handovers, clock } = scope;
  const { ref } = person;
  const link = await linkIfClosed(scope, person, options);
  if (!link) return undefined;
  const stored = await handovers.read(ref);
  const isOver = stored?.head.state === 'returned';
  // The items of this closing were given back already, for example by order of an operator.
  if (isOver && stored.head.closedAt === link.closedAt) return undefined;
  const { folder, folderName } = stored?.head ?? {};
  const startedAt = (isOver ? undefined : stored?.head.startedAt) ?? clock.now();
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

/**
 * Returns the link of the person, if the account is still closed, for long enough, and the same as in the plan, and nothing in the
 * bridge or at the platform says that the person may be active again; else undefined.
 */
async function linkIfClosed(
  scope: ReconcileScope,
  person: PlannedHandover,
  options: HandoverOptions,
): Promise<ClosedLink | undefined> {
  const { links, target, clock } = scope;
  const { ref } = person;
  const link = await links.get(target.name, ref);
  // The plan may be old: the account may have been activated, exchanged or protected since.
  if (!isClosed(link)) return undefined;
  // 0 is never used: nothing is handed over without the setting.
  const { afterDays = 0 } = target.policy.handover ?? {};
  if (link.closedAt + afterDays * DAY_MS > clock.now()) return undefined;
  if (protectedNames(target.policy.users.protected)(link) || (await isInDoubt(scope, ref))) return undefined;
  const account = await target.client.users.get(link.id, options);
  // The platform's own state decides: an active account, or one of another person, keeps its items.
  if (account.active !== false || (account.externalId ?? null) !== (link.core?.externalId ?? null))
    return undefined;
  // The plan has found the owner of the items by the userName in the link, which somebody may have changed at the platform.
  const search = (userName: string) => target.client.accounts.search(userName, options);
  const number = await numberOf(target.client, account, search, options.signal);
  return number === person.account ? link : undefined;
}

/**
 * Returns whether a change of the person is pending, refused, held or rejected, or whether the person is or may be desired active.
 */
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

/**
 * Finds or creates the folder of a person below the handover folder. The name is stored before the create, so that a later run
 * recognises the folder if the create has no answer.
 */
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
  // The noted folder is still there.
  const known = head.folder === undefined ? undefined : children.get(head.folder);
  if (head.folder !== undefined && known !== undefined) return { id: head.folder, name: known };
  // An earlier create had no answer. The noted name was free before, so the folder that has it now is the created one.
  const isCreateUnanswered = head.folderName !== undefined && head.folder === undefined;
  if (isCreateUnanswered)
    for (const [id, name] of children) if (name === head.folderName) return { id, name };
  // There is no folder yet, or it is not in the handover folder any more: a new one gets a free name.
  const taken = new Set(children.values());
  const base = visible(head.name).slice(0, MAX_NAME_LENGTH);
  let folderName = base;
  for (let count = 2; taken.has(folderName); count++) folderName = `${base} (${count})`;
  const { folder: _, ...headWithoutFolder } = head;
  await handovers.note(ref, { head: { ...headWithoutFolder, folderName } });
  const { id } = await workspace.createFolder(deployment, { name: folderName, parentId: parent.id }, options);
  await handovers.note(ref, { head: { ...headWithoutFolder, folderName, folder: id } });
  return { id, name: folderName };
}

/**
 * Returns the item before its move. The reason of an earlier refusal is kept until the move is tried again, so that the same
 * refusal is not logged twice.
 */
const toPlanned = ({ type, id, name, from }: OwnedItem, before: HandedItem | undefined): HandedItem => ({
  type,
  id,
  name,
  from,
  state: 'planned',
  ...(before?.state === 'refused' && before.reason !== undefined ? { reason: before.reason } : {}),
});

/**
 * Moves items to a folder, one after the other.
 * @returns messages of the platform by key of the item that it refused to move; and the reason why the moves stopped before the
 *   last item, undefined if they did not
 * @throws errors that are not of the platform, and the reason of an abort
 */
async function moveItems(
  scope: ReconcileScope,
  items: readonly HandedItem[],
  { deployment, folder }: { deployment: string; folder: string },
  options: HandoverOptions,
): Promise<{ refused: Map<string, string>; problem?: string }> {
  const refused = new Map<string, string>();
  for (const item of items) {
    const { type, id } = item;
    const stopped = await whyStopped(scope, options.signal);
    if (stopped !== undefined) return { refused, problem: stopped };
    try {
      await scope.target.client.workspace.move(deployment, { type, id, folderId: folder }, options);
    } catch (error) {
      // A failure that is no refusal of this one item: the next moves would fail too, so the moves stop.
      if (!isRefusalOfItem(error)) return { refused, problem: platformProblem(error) };
      refused.set(itemKey(item), platformProblem(error));
    }
  }
  return { refused };
}

/**
 * Reads the person's folder, and stores what became of each item: moved; refused; `left`, because it is in neither place any more.
 * An item that the platform still shows at its former place stays `planned`, and the next run goes on with it.
 * @param items the items of this run, and those that a crashed run planned
 * @param ownedBefore keys (`TYPE:id`) of the items that the account still owned before the moves
 * @param refused messages of the platform, by key of the item that it refused to move
 * @returns the numbers of moved items and of items whose place is not known yet
 */
async function confirmMoves(
  scope: ReconcileScope,
  ref: PlannedHandover['ref'],
  head: HandoverHead & { folder: string },
  items: HandedItem[],
  { ownedBefore, refused }: { ownedBefore: ReadonlySet<string>; refused: ReadonlyMap<string, string> },
  { signal, request }: HandoverOptions,
): Promise<{ moved: number; unconfirmed: number }> {
  /** Stores the items with a log entry for each. */
  const noteLogged = (done: HandedItem[], status: 'success' | 'failure'): Promise<void> =>
    scope.handovers.note(ref, {
      items: done,
      entries: done.map((item) => {
        const move = { action: 'handOver', status, request, from: item.from, to: head.folder } as const;
        return handoverEntry(scope, ref, head, item, { ...move, why: item.reason });
      }),
    });
  const content = await contentOfPersonFolder(scope, head, { signal });
  const moved = items
    .filter((item) => content?.has(itemKey(item)))
    .map((item): HandedItem => ({ ...withoutReason(item), state: 'moved' }));
  await noteLogged(moved, 'success');
  const missed = items.filter((item) => !content?.has(itemKey(item)));
  const left = missed.filter((item) => !ownedBefore.has(itemKey(item)));
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
  await noteLogged(fresh, 'failure');
  return { moved: moved.length, unconfirmed: missed.length - kept.length - left.length };
}

/** Returns the item without the reason of a refusal. */
const withoutReason = ({ reason: _, ...item }: HandedItem): HandedItem => item;
