// Moves handed-over items back to their former places: for a person who is active again, or by order of an operator (ADR 0025).
// "The person's folder" is the folder that the handover made for this person in the folder of the team; the items leave it.
// `giveBack` moves the items that are still there, reads where all items are now (`confirmReturns`), and deletes the folder if it
// is empty.
import { itemKey, type HandedItem, type HandoverHead } from '../../directory/outbox/handover-store.ts';
import type { LogEntry } from '../../directory/logs/provisioning-log.ts';
import type { Ref } from '../../directory/records.ts';
import { PlatformResponse } from '../../platform/errors.ts';
import { platformProblem } from './handover-place.ts';
import {
  contentOfPersonFolder,
  handoverEntry,
  isRefusalOfItem,
  whyStopped,
  type HandoverOptions,
} from './handover-steps.ts';
import { readPlaces } from './owned-items.ts';
import type { ReconcileScope } from '../scope.ts';

/** Numbers of handed-over items that were moved back and that were not. The next order or run continues with the rest. */
export interface GivenBack {
  returned: number;
  /** Items that are no longer in the person's folder, and stay where they are. */
  left: number;
  /** Items that the platform refused to move; they stay in the person's folder. */
  refused: number;
  /** Items that the platform does not show in their places yet, or that were not tried. */
  unconfirmed: number;
  /** Why the moves stopped before the last item, as a sentence; further moves would fail too. */
  problem?: string;
}

const NOTHING: GivenBack = { returned: 0, left: 0, refused: 0, unconfirmed: 0 };

/** Moves the items of a handover back to their former folders. @param by the operator; undefined: the person is active again */
export async function giveBack(
  scope: ReconcileScope,
  ref: Ref,
  options: HandoverOptions,
  by?: string,
): Promise<GivenBack> {
  const { handovers } = scope;
  const stored = await handovers.read(ref);
  if (!stored || stored.head.state === 'returned') return NOTHING;
  const head: HandoverHead = { ...stored.head, state: 'returning', ...(by === undefined ? {} : { by }) };
  await handovers.note(ref, { head });
  // `planned`: the process may have ended between the move of an item and its note.
  const items = stored.items.filter(({ state }) => state === 'moved' || state === 'planned');
  const { folder, deployment } = head;
  // The items in the person's folder; undefined: there is no such folder.
  const inFolder =
    folder === undefined ? undefined : await contentOfPersonFolder(scope, { deployment, folder }, options);
  const destinations = new Map<string, string | null>();
  /** Messages of the platform by key of the item that it refused to move. */
  const refused = new Map<string, string>();
  let problem: string | undefined;
  // Folders were moved first, so they go back last.
  for (const item of [...items].reverse()) {
    // The item was never moved or was moved back before, or somebody moved it elsewhere; confirmReturns finds out which.
    if (!inFolder?.has(itemKey(item))) continue;
    problem = await whyStopped(scope, options.signal);
    if (problem !== undefined) break;
    try {
      destinations.set(itemKey(item), await moveBack(scope, head, item, options));
    } catch (error) {
      // `platformProblem` throws errors that are not of the platform.
      const message = platformProblem(error);
      if (isRefusalOfItem(error)) refused.set(itemKey(item), message);
      else {
        problem = message;
        break;
      }
    }
  }
  const ended = await confirmReturns(scope, ref, head, items, { inFolder, destinations, refused }, options);
  if (problem !== undefined) return { ...ended, problem };
  if (ended.refused + ended.unconfirmed > 0) return ended;
  const isFolderGone =
    folder !== undefined && (await removeEmptyFolder(scope, { deployment, folder }, options));
  const { folder: _, folderName: __, ...withoutFolder } = head;
  const last = isFolderGone ? withoutFolder : head;
  await handovers.note(ref, { head: { ...last, state: 'returned', endedAt: scope.clock.now() } });
  return ended;
}

/**
 * Moves an item to its former folder, or to the root if the platform no longer has that folder.
 * @returns the id of the folder; null: the root
 */
async function moveBack(
  { target }: ReconcileScope,
  { deployment }: HandoverHead,
  { type, id, from }: HandedItem,
  options: HandoverOptions,
): Promise<string | null> {
  const moveTo = async (folderId: string | null): Promise<string | null> => {
    await target.client.workspace.move(deployment, { type, id, folderId }, options);
    return folderId;
  };
  return moveTo(from).catch((error: unknown) => {
    // After a 404 the former folder may be gone, so the root is tried.
    if (from !== null && error instanceof PlatformResponse && error.status === 404) return moveTo(null);
    throw error;
  });
}

interface Sent {
  /** Items in the person's folder before; undefined: the folder does not exist. */
  inFolder: ReadonlyMap<string, unknown> | undefined;
  /** Id of the destination folder by key of the item; null: the root. */
  destinations: ReadonlyMap<string, string | null>;
  /** Messages of the platform by key of the item that it refused to move. */
  refused: ReadonlyMap<string, string>;
}

/** Reads the present places of the items. Stores and logs each item that is back, and each refusal that was not logged before. */
async function confirmReturns(
  scope: ReconcileScope,
  ref: Ref,
  head: HandoverHead,
  items: HandedItem[],
  sent: Sent,
  { signal, request }: HandoverOptions,
): Promise<GivenBack> {
  const wanted = new Set(items.map(itemKey));
  const places =
    items.length === 0
      ? new Map<string, string | null>()
      : await readPlaces(scope.target.client.workspace, head.deployment, wanted, { signal });
  const done: HandedItem[] = [];
  const entries: LogEntry[] = [];
  const untouched: HandedItem[] = [];
  const count = { ...NOTHING };
  for (const { reason: before, ...item } of items) {
    const outcome = outcomeOf(item, places.get(itemKey(item)), sent);
    if (outcome.kind === 'untouched') untouched.push({ ...item, state: 'returned' });
    else count[outcome.kind] += 1;
    if (outcome.kind === 'untouched' || outcome.kind === 'unconfirmed') continue;
    const { kind, to, why } = outcome;
    // Every run for a person who is active again tries a refused item again, so that the same refusal is not logged twice.
    if (kind === 'refused' && why === before) continue;
    done.push({
      ...item,
      state: kind === 'refused' ? 'moved' : kind,
      ...(why === undefined ? {} : { reason: why }),
    });
    const status = LOG_STATUS[kind];
    const move = { action: 'giveBack' as const, status, request, from: head.folder ?? null, to, why };
    entries.push(handoverEntry(scope, ref, head, item, move));
  }
  await scope.handovers.note(ref, { items: done, entries });
  // Items that never moved get no log entry; a call of `note` takes an entry for each item or for none.
  await scope.handovers.note(ref, { items: untouched });
  return count;
}

const LOG_STATUS = { returned: 'success', left: 'skipped', refused: 'failure' } as const;

/** The outcome of one item. `to`: id of the folder where it is, or to which it was to go; null: the root, or not known. */
type ItemOutcome =
  | { kind: keyof typeof LOG_STATUS; to: string | null; why?: string | undefined }
  /** The platform does not show it as back yet. */
  | { kind: 'unconfirmed' }
  /** The handover never moved it. */
  | { kind: 'untouched' };

/** Returns what became of an item. @param place id of the present folder; null: the root, undefined: the item was not found */
function outcomeOf(
  item: HandedItem,
  place: string | null | undefined,
  { inFolder, destinations, refused }: Sent,
): ItemOutcome {
  const key = itemKey(item);
  const refusal = refused.get(key);
  if (refusal !== undefined) return { kind: 'refused', to: item.from, why: refusal };
  const destination = destinations.get(key);
  if (destination !== undefined && place === destination) {
    const why = destination === item.from ? undefined : 'its folder is gone, so it is at the root';
    return { kind: 'returned', to: destination, why };
  }
  // The platform does not show the move yet, or the moves stopped before this item.
  if (destination !== undefined || inFolder?.has(key)) return { kind: 'unconfirmed' };
  // An earlier move back ended between the move of the item and this note.
  if (place === item.from && item.state === 'moved') return { kind: 'returned', to: item.from };
  // The handover ended before it moved the item.
  if (item.state === 'planned') return { kind: 'untouched' };
  const why = 'it is no longer in the folder, so it stays where it is';
  return { kind: 'left', to: null, why };
}

/** Deletes the person's folder if it is empty. @returns whether the folder no longer exists */
async function removeEmptyFolder(
  scope: ReconcileScope,
  { deployment, folder }: { deployment: string; folder: string },
  options: HandoverOptions,
): Promise<boolean> {
  const content = await contentOfPersonFolder(scope, { deployment, folder }, options);
  if (content === undefined) return true;
  if (content.size > 0) return false;
  try {
    await scope.target.client.workspace.deleteFolder(deployment, folder, options);
    return true;
  } catch (error) {
    // If the platform refuses, the empty folder stays.
    platformProblem(error);
    return false;
  }
}
