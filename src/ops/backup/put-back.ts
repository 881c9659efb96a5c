// Replaces the data of the connections of a backup by that of the file. Every target is put on hold first and stays on hold,
// because the links may be older than the platform; the operator checks `scim-bridge plan` and then runs `scim-bridge release`.
import type { FileHandle } from 'node:fs/promises';
import type { Act, Actor } from '../../directory/logs/acts.ts';
import type { ArchiveLine } from '../../directory/archive/archive.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { KnownTargets } from '../../directory/fleet/known-targets.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import { total } from '../../support/counted.ts';
import type { Clock } from '../../support/sources.ts';
import type { OnItems } from './backup.ts';
import { contentOf, type CheckedBackup, type TokenInBackup } from './backup-file.ts';
import { familyOf, type BackupLine } from './backup-format.ts';
import { markUnsynced, RESTORE_REQUEST } from './mark-unsynced.ts';
import { holdForRestore, type FormerHold } from './restore-hold.ts';
import { tokensLeftOut } from './tokens-left-out.ts';

export interface RestoreReport {
  createdAt: string;
  connections: string[];
  /** Restored items by family. */
  counts: Record<string, number>;
  /** Number of items left out: members of missing groups, and the older of two resources with one name. */
  dropped: number;
  /** Number of resources that are synced after the release. */
  marked: number;
  /** Holds of operators before the restore. The notes of the holds that the restore sets repeat them. */
  formerHolds: FormerHold[];
  /** Numbers of security events and first approvals in the replaced data. They are lost, because no backup contains them. */
  removed: { events: number; firstApprovals: number };
  /** Refs of persons who were forgotten after the backup was made. They are stored as deleted at the source. */
  forgottenSince: string[];
  /** `taken`: whether the tokens of the file were restored. `ofFile`: all of them. `leftOut`: those that Redis lacks now. */
  tokens: { taken: boolean; ofFile: TokenInBackup[]; leftOut: TokenInBackup[] };
}

export interface PutBackOptions {
  /** `keep`: stored tokens are kept and those of the file left out. `take`: tokens of the file replace the stored ones. */
  tokens: 'keep' | 'take';
  /**
   * True: users who were synced at the backup are left to the reconcile at the start of the service, so that the guard judges
   * together what the present settings take from them. False: no such run repairs, so they are marked and judged one by one.
   */
  leaveToReconcile: boolean;
  clock: Clock;
  knownTargets: Pick<KnownTargets, 'noteLinked'>;
  actor: Actor;
  onItems?: OnItems;
}

/** Checks that throw once another restore may have begun, so that two restores do not mix their data. */
interface BeforeWrite {
  /** Called before each write while the data is still whole: holds, and an entry of the audit log. */
  assertAlone: () => void;
  /** Called before each change of the data. */
  beforeChange: () => void;
}

/** Replaces the data of the chosen connections by the lines of the file, and marks the resources that are not synced. */
export async function putBack(
  chosen: readonly DesiredState[],
  file: FileHandle,
  checked: CheckedBackup,
  options: PutBackOptions,
  { assertAlone, beforeChange }: BeforeWrite,
): Promise<RestoreReport> {
  const { header, tokens: tokensOfFile, tokenLines } = checked;
  const { actor, clock, knownTargets, leaveToReconcile } = options;
  const takesTokens = options.tokens === 'take';
  const formerHolds = await holdForRestore(chosen, header, actor.by, assertAlone);
  const act: Act = { act: 'restore', ...actor, subject: subjectOf(checked, takesTokens) };
  const withoutActs = await recordRestore(chosen, act, assertAlone);
  const forgotten = new Map<DesiredState, Ref[]>();
  for (const state of chosen) forgotten.set(state, await forgottenSince(state, Date.parse(header.createdAt)));
  const removed = await countWaiting(chosen);
  for (const { archive } of chosen) await archive.clear({ tokens: takesTokens, beforeChange });
  const { counts, dropped } = await loadLines(chosen, file, checked, {
    takesTokens,
    onItems: options.onItems,
    beforeChange,
  });
  for (const { archive } of chosen) await archive.finish(beforeChange);
  for (const { acts } of withoutActs) {
    beforeChange();
    await acts.record(act);
  }
  await deleteForgotten(forgotten, clock.now(), beforeChange);
  let marked = 0;
  for (const state of chosen) marked += await markUnsynced(state, leaveToReconcile, beforeChange);
  // The file may have links at targets that are not in the settings. `kept`: those where accounts stay by order of an operator.
  beforeChange();
  await knownTargets.noteLinked(header.kept ?? []);
  return {
    createdAt: header.createdAt,
    connections: chosen.map(({ connection }) => connection),
    counts,
    dropped,
    marked,
    formerHolds,
    removed,
    forgottenSince: [...forgotten.values()].flat(),
    tokens: {
      taken: takesTokens,
      ofFile: tokensOfFile,
      leftOut: await tokensLeftOut(chosen, { tokens: tokensOfFile, tokenLines }),
    },
  };
}

/** Returns the subject of the audit entry: the backup, and the inbound tokens of the file if they are restored. */
function subjectOf({ header, tokens }: CheckedBackup, takesTokens: boolean): string {
  const names = tokens.map(({ connection, name }) => `${connection}/${name}`).join(', ');
  const admitted = takesTokens && names !== '' ? `, with the inbound tokens ${names}` : '';
  return `backup of ${header.createdAt}${admitted}`;
}

/**
 * Records the restore in the audit logs that have entries. An empty audit log takes no entry now, because it gets the older entries
 * of the file first. Until then the hold is the record of the restore.
 * @returns the connections with an empty audit log
 */
async function recordRestore(
  chosen: readonly DesiredState[],
  act: Act,
  assertAlone: () => void,
): Promise<DesiredState[]> {
  const withoutActs: DesiredState[] = [];
  for (const state of chosen) {
    if ((await state.acts.newestId()) === undefined) {
      withoutActs.push(state);
      continue;
    }
    assertAlone();
    await state.acts.record(act);
  }
  return withoutActs;
}

/**
 * Returns refs of persons who were forgotten since a time, and whom no provider pushes. The subject of the act `forget` is their
 * refs, separated by spaces. @param since Unix milliseconds
 */
async function forgottenSince({ acts, directory }: DesiredState, since: number): Promise<Ref[]> {
  const found = new Set<Ref>();
  for await (const portion of acts.newest({ since }))
    for (const { act, subject = '' } of portion)
      if (act === 'forget') for (const ref of subject.split(' ').filter(Boolean)) found.add(ref as Ref);
  const refs = [...found];
  const pushed = await Promise.all(refs.map((ref) => directory.get('User', parseRef(ref).id)));
  return refs.filter((_ref, index) => !pushed[index]);
}

/** Counts the security events that no receiver has taken, also refused ones, and the approvals that wait for a second person. */
async function countWaiting(states: readonly DesiredState[]): Promise<RestoreReport['removed']> {
  const removed = { events: 0, firstApprovals: 0 };
  for (const { events, outboxes } of states)
    try {
      const { pending, kept } = await events.delivery();
      removed.events += pending + kept;
      for (const { guardStore } of outboxes.values())
        removed.firstApprovals += (await guardStore.firstApprovals.list()).length;
    } catch {
      // The data that the restore removes may be damaged; what cannot be read is not counted.
    }
  return removed;
}

const isRecord = ({ family }: ArchiveLine): boolean => family === 'users' || family === 'groups';

const isTombstone = ({ family }: ArchiveLine): boolean => family === 'tombstones';

/** The file is read once for each pass, because records must be restored before lines that refer to them. */
const PASSES = [isRecord, isTombstone, (line: ArchiveLine) => !isRecord(line) && !isTombstone(line)];

/** Loads the lines of the file into Redis, those of the tokens only with `takesTokens`. @returns as in the report */
async function loadLines(
  chosen: readonly DesiredState[],
  file: FileHandle,
  { header, end, tokenLines }: CheckedBackup,
  {
    takesTokens,
    onItems = () => undefined,
    beforeChange,
  }: { takesTokens: boolean; onItems: OnItems | undefined; beforeChange: () => void },
): Promise<Pick<RestoreReport, 'counts' | 'dropped'>> {
  const byName = new Map(chosen.map((state) => [state.connection, state]));
  const items = total(Object.values(end.counts));
  const counts: Record<string, number> = {};
  let done = 0;
  let dropped = 0;
  const load = async ({ connection, ...line }: BackupLine): Promise<void> => {
    beforeChange();
    const result = await byName.get(connection)?.archive.load(line);
    const name = familyOf(line);
    // A resource that changed during the backup is in the file twice, and counted once.
    if (!line.again) counts[name] = (counts[name] ?? 0) + (result?.loaded ?? 0);
    dropped += result?.dropped ?? 0;
    done += line.items.length;
    onItems(Math.min(done, items), items);
  };
  for (const belongs of PASSES)
    for await (const line of contentOf(file, header)) if (belongs(line)) await load(line);
  if (takesTokens) for (const line of tokenLines) await load(line);
  return { counts, dropped };
}

/** Deletes restored persons who were forgotten since the backup: the provider deleted them before, and sends no second DELETE. */
async function deleteForgotten(
  forgotten: ReadonlyMap<DesiredState, Ref[]>,
  now: number,
  beforeChange: () => void,
): Promise<void> {
  for (const [{ directory }, refs] of forgotten)
    for (const ref of refs) {
      beforeChange();
      await directory.remove('User', {
        id: parseRef(ref).id,
        // Undefined: the version is not checked.
        expected: undefined,
        now,
        request: RESTORE_REQUEST,
      });
    }
}
