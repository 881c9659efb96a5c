// Marks what a restore may have left unwritten at the platforms, because a backup contains no marks.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { CoverPortion } from '../../directory/outbox/coverage.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import { parseRef, refOf, type Ref } from '../../directory/records.ts';

/** Correlation id of the marks and deletions of a restore. */
export const RESTORE_REQUEST = 'restore';

/**
 * Marks groups, users, and deleted users whose account may have to be closed.
 * @param leaveToReconcile true: of the users with a record only those are marked whose present record was not synced;
 *   the reconcile at the start compares the others, so that the guard judges together what the present settings take away from them
 * @param beforeChange called before each change
 * @returns number of marked users and groups
 */
export async function markUnsynced(
  state: DesiredState,
  leaveToReconcile: boolean,
  beforeChange: () => void,
): Promise<number> {
  const { directory, coverage, outboxes } = state;
  let marked = 0;
  for (const [target, outbox] of outboxes) {
    const mark = async (refs: Ref[]): Promise<void> => {
      beforeChange();
      await outbox.mark(refs, 'reconcile', RESTORE_REQUEST);
      marked += refs.length;
    };
    const noteMayExist: Outbox['noteMayExist'] = async (names) => {
      beforeChange();
      await outbox.noteMayExist(names);
    };
    for await (const records of directory.scan('Group')) {
      const refs = records.map(({ id }) => refOf('Group', id));
      await noteLostLinks(state, { noteMayExist }, target, refs);
      await mark(refs);
    }
    const reader = coverage.get(target);
    if (!reader) continue;
    for await (const { linked, others } of reader.resources('User')) {
      // A person who was out of scope at the backup had no account that the bridge managed.
      const inScope = others.filter(({ state: each }) => each !== 'closed');
      await noteLostLinks(
        state,
        { noteMayExist },
        target,
        inScope.map(({ ref }) => ref),
      );
      if (leaveToReconcile) await mark(await unsynced(state, target, others));
      else await mark([...linked, ...others].map(({ ref }) => ref));
    }
    // Accounts of deleted users may still have to be closed.
    for await (const orphans of reader.orphans()) await mark(orphans.map(({ ref }) => ref));
  }
  return marked;
}

/**
 * Notes for stored resources without link that they may have been linked since the backup: if the source deletes one before it is
 * linked again, its account has to be found and closed.
 */
async function noteLostLinks(
  { directory, links }: DesiredState,
  outbox: Pick<Outbox, 'noteMayExist'>,
  target: string,
  refs: readonly Ref[],
): Promise<void> {
  const known = await links.getMany(target, [...refs]);
  const unlinked = refs.filter((_, index) => known[index]?.id === undefined);
  const names: [Ref, Record<string, string>][] = [];
  for (const kind of ['User', 'Group'] as const) {
    const ids = unlinked.map(parseRef).flatMap((each) => (each.kind === kind ? [each.id] : []));
    for (const { id, text } of await directory.getMany(kind, ids)) {
      const { userName, externalId, displayName } = JSON.parse(text || '{}') as Record<string, unknown>;
      const given = kind === 'User' ? { userName, externalId } : { displayName };
      const texts = Object.entries(given).filter(
        (each): each is [string, string] => typeof each[1] === 'string',
      );
      names.push([refOf(kind, id), Object.fromEntries(texts)]);
    }
  }
  await outbox.noteMayExist(names);
}

/**
 * Returns the users of a portion whose present record was not synced. The state `stale` alone does not tell: when the
 * present mapping rules are the first that read groups, everybody in a group has this state, also with an unchanged record. So
 * the version of the last sync (`basis`) is compared with the version of the record.
 */
async function unsynced(
  { directory, links }: DesiredState,
  target: string,
  users: CoverPortion['others'],
): Promise<Ref[]> {
  const refs = users.map(({ ref }) => ref);
  const records = await directory.getMany(
    'User',
    refs.map((ref) => parseRef(ref).id),
  );
  const bases = new Map(records.map(({ id, version }) => [refOf('User', id), String(version)]));
  const known = await links.getMany(target, refs);
  return refs.filter((ref, index) => {
    const { basis, condition } = known[index] ?? {};
    return users[index]?.state !== 'stale' || condition !== undefined || basis !== bases.get(ref);
  });
}
