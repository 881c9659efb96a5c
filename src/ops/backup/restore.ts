// Restores a backup into Redis. Every target is put on hold first and stays on hold, because the links may be
// older than the platform; the operator checks `scim-bridge plan` and then runs `scim-bridge release`.
import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from '../../directory/logs/acts.ts';
import type { ArchiveLine } from '../../directory/archive/archive.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { CoverPortion } from '../../directory/outbox/coverage.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import type { DataVersion } from '../../directory/fleet/data-version.ts';
import type { KnownTargets } from '../../directory/fleet/known-targets.ts';
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import type { ProcessLease } from '../../directory/redis/lease.ts';
import type { OnItems } from './backup.ts';
import { runningText, type ReadFleet } from '../status/fleet.ts';
import { aloneRestoring, RestoreRefused } from './lone-restore.ts';
import { holdForRestore, type FormerHold } from './restore-hold.ts';
import { tokensLeftOut } from './tokens-left-out.ts';
import {
  contentOf,
  familyOf,
  type BackupHeader,
  type BackupLine,
  type CheckedBackup,
  type TokenInBackup,
} from './backup-file.ts';

export interface RestoreReport {
  createdAt: string;
  connections: string[];
  /** Restored items by family. */
  counts: Record<string, number>;
  /** Number of items left out: members of missing groups, and the older of two resources with one name. */
  dropped: number;
  /** Number of resources that are synced after the release. */
  marked: number;
  /** Holds of operators before the restore, which the notes of its own holds repeat. */
  formerHolds: FormerHold[];
  /** Refs of persons who were forgotten after the backup was made. They are stored as deleted at the source. */
  forgottenSince: string[];
  /** Inbound tokens of the file, whether they were restored, and those that are not stored now. */
  tokens: { taken: boolean; ofFile: TokenInBackup[]; leftOut: TokenInBackup[] };
}

interface RestoreOptions {
  /** Deletes the stored data first. */
  replace: boolean;
  /** `keep`: stored tokens are kept and those of the file left out. `take`: tokens of the file replace the stored ones. */
  tokens: 'keep' | 'take';
  /** Accepts a file whose HMAC is missing or wrong. */
  acceptUnproven: boolean;
  /** Whether a run of the service will repair users who are synced. False: they are marked, and the guard judges each alone. */
  leaveToReconcile: boolean;
  readFleet: ReadFleet;
  dataVersion: DataVersion;
  knownTargets: Pick<KnownTargets, 'noteLinked'>;
  /** Held by the only restore that runs. */
  restoreLease: ProcessLease;
  actor: Actor;
  onItems?: OnItems;
  /** Called when the restore waits for processes that may have been killed; their names. */
  onWait?: (running: string) => void;
}

/** Interval at which the beats of processes are read. */
const CHECK_MS = 500;

/** Correlation id of the marks of a restore. */
const REQUEST = 'restore';

const isRecord = ({ family }: ArchiveLine): boolean => family === 'users' || family === 'groups';
const isTombstone = ({ family }: ArchiveLine): boolean => family === 'tombstones';
/** The file is read once for each pass, because records must be restored before lines that refer to them. */
const PASSES = [isRecord, isTombstone, (line: ArchiveLine) => !isRecord(line) && !isTombstone(line)];

/**
 * Restores a checked file.
 * @throws RestoreRefused before anything was changed
 */
export async function restore(
  states: readonly DesiredState[],
  file: FileHandle,
  checked: CheckedBackup,
  options: RestoreOptions,
): Promise<RestoreReport> {
  const { replace, readFleet, dataVersion, restoreLease, onWait = () => undefined } = options;
  refuseUnlessProven(checked, options.acceptUnproven);
  const chosen = statesFor(checked.header, states);
  return aloneRestoring(restoreLease, randomUUID(), async (assertAlone) => {
    if (!replace) await refuseUnlessEmpty(chosen);
    await refuseWhileRunning(readFleet, onWait);
    // False: an earlier restore failed, so the data is not whole.
    let isWhole = await dataVersion.beginRestore(new Date().toISOString());
    try {
      // A process that starts announces itself and then checks for a restore, so one of the two notices the other.
      await refuseWhileRunning(readFleet, onWait);
      const report = await putBack(chosen, file, checked, options, () => {
        assertAlone();
        isWhole = false;
      });
      isWhole = true;
      return report;
    } finally {
      // A restore that failed before it removed anything leaves the data whole. If it failed later, the note of the restore stays,
      // so that the service does not start.
      if (isWhole) await dataVersion.endRestore();
    }
  });
}

/** Puts the lines back and marks what is not synced. @param beforeChange called before each change of the data */
async function putBack(
  chosen: readonly DesiredState[],
  file: FileHandle,
  { header, end, tokens: tokensOfFile, tokenLines }: CheckedBackup,
  { tokens, actor, knownTargets, leaveToReconcile, onItems = () => undefined }: RestoreOptions,
  beforeChange: () => void,
): Promise<RestoreReport> {
  const formerHolds = await holdForRestore(chosen, header, actor.by);
  const takesTokens = tokens === 'take';
  const names = tokensOfFile.map(({ connection, name }) => `${connection}/${name}`).join(', ');
  const admitted = takesTokens && names !== '' ? `, with the inbound tokens ${names}` : '';
  const subject = `backup of ${header.createdAt}${admitted}`;
  // An empty audit log takes no entry now, because it gets the older entries of the file first. Until then the hold is the record
  // of the restore.
  const withoutActs: DesiredState[] = [];
  for (const state of chosen) {
    if ((await state.acts.newestId()) === undefined) withoutActs.push(state);
    else await state.acts.record({ act: 'restore', ...actor, subject });
  }
  const forgotten = new Map<DesiredState, Ref[]>();
  for (const state of chosen) forgotten.set(state, await forgottenSince(state, Date.parse(header.createdAt)));
  beforeChange();
  for (const { archive } of chosen) await archive.clear({ tokens: takesTokens });

  const byName = new Map(chosen.map((state) => [state.connection, state]));
  const total = Object.values(end.counts).reduce((sum, count) => sum + count, 0);
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
    onItems(Math.min(done, total), total);
  };
  for (const belongs of PASSES)
    for await (const line of contentOf(file, header)) if (belongs(line)) await load(line);
  if (takesTokens) for (const line of tokenLines) await load(line);
  for (const { archive } of chosen) await archive.finish();
  for (const { acts } of withoutActs) await acts.record({ act: 'restore', ...actor, subject });
  // The provider deleted these persons before they were forgotten, and sends no second DELETE.
  for (const [{ directory }, refs] of forgotten)
    for (const ref of refs)
      await directory.remove('User', {
        id: parseRef(ref).id,
        // Undefined: the version is not checked.
        expected: undefined,
        now: Date.now(),
        request: REQUEST,
      });
  let marked = 0;
  for (const state of chosen) marked += await markUnsynced(state, leaveToReconcile);
  // The file has links at targets that left the settings before the backup was made.
  await knownTargets.noteLinked(header.kept ?? []);
  return {
    createdAt: header.createdAt,
    connections: [...byName.keys()],
    counts,
    dropped,
    marked,
    formerHolds,
    forgottenSince: [...forgotten.values()].flat(),
    tokens: {
      taken: takesTokens,
      ofFile: tokensOfFile,
      leftOut: await tokensLeftOut(chosen, { tokens: tokensOfFile, tokenLines }),
    },
  };
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

/** @throws RestoreRefused for a file without valid HMAC when `backup.key` is set, because its origin is unknown */
function refuseUnlessProven({ proof }: CheckedBackup, acceptUnproven: boolean): void {
  if (acceptUnproven || proof === 'valid' || proof === 'unknown') return;
  const says = proof === 'invalid' ? 'The HMAC of the backup does not fit' : 'The backup has no HMAC';
  throw new RestoreRefused(
    `${says}, and backup.key is set: somebody may have written users, links or tokens into it. --accept-forgeable takes it all the same.`,
  );
}

/**
 * Returns the states of the connections of a backup.
 * @throws RestoreRefused when one of them, or a target, is not in the settings
 */
function statesFor({ connections }: BackupHeader, states: readonly DesiredState[]): DesiredState[] {
  return Object.entries(connections).map(([name, targets]) => {
    const state = states.find(({ connection }) => connection === name);
    if (!state)
      throw new RestoreRefused(
        `The backup holds the connection ${name}, which the settings do not have. Restore with the settings of that time, which feed ${targets.join(', ')} from ${name}, and take it out afterwards (docs/removed-targets.md).`,
      );
    const missing = targets.filter((target) => !state.outboxes.has(target));
    if (missing.length > 0)
      throw new RestoreRefused(
        `In the backup ${name} feeds ${missing.join(', ')}, in the settings it does not: add it, or restore with the settings of that time.`,
      );
    return state;
  });
}

/** @throws RestoreRefused when something is stored for a connection */
async function refuseUnlessEmpty(states: readonly DesiredState[]): Promise<void> {
  for (const { connection, archive } of states) {
    if (!(await archive.isEmpty()))
      throw new RestoreRefused(
        `There is something stored for the connection ${connection} already: stop the service and say --replace to remove it first.`,
      );
  }
}

/**
 * A process that runs would write between the removal and the end of the restore, also into an empty Redis: Redis then takes
 * no older entry of a log, and the hash chain of the log breaks. A process without a new beat may have been killed, so the
 * restore waits until its last beat is overdue.
 * @throws RestoreRefused when a process beats
 */
async function refuseWhileRunning(readFleet: ReadFleet, onWait: (running: string) => void): Promise<void> {
  let before: Map<string, number> | undefined;
  for (;;) {
    const { processes } = await readFleet();
    const running = processes.filter(({ silent }) => !silent);
    const names = runningText(running);
    if (names === undefined) return;
    // In the first round nothing is known about earlier beats.
    const beating = running.filter(({ id, lastBeatAt }) => before && before.get(id) !== lastBeatAt);
    if (beating.length > 0) {
      throw new RestoreRefused(
        `The service runs: ${names}. Nothing was changed. Stop every process (docs/restore.md says how: virtual machine, container, Kubernetes), then repeat the command.`,
      );
    }
    if (!before) onWait(names);
    before ??= new Map(running.map(({ id, lastBeatAt }) => [id, lastBeatAt]));
    await sleep(CHECK_MS);
  }
}

/**
 * Marks what may still have to be written as it was pushed, because the backup contains no marks: groups, and users whose last
 * sync is not that of their record. With `leaveToReconcile` the others are left to the reconcile at the start, so that the guard
 * judges together what the present settings take away from them. @returns number of marked users and groups
 */
async function markUnsynced(state: DesiredState, leaveToReconcile: boolean): Promise<number> {
  const { directory, coverage, outboxes } = state;
  let marked = 0;
  for (const [target, outbox] of outboxes) {
    const mark = async (refs: Ref[]): Promise<void> => {
      await outbox.mark(refs, 'reconcile', REQUEST);
      marked += refs.length;
    };
    for await (const records of directory.scan('Group')) {
      const refs = records.map(({ id }) => refOf('Group', id));
      await noteLostLinks(state, outbox, target, refs);
      await mark(refs);
    }
    const reader = coverage.get(target);
    if (!reader) continue;
    for await (const { linked, others } of reader.resources('User')) {
      // A person who was out of scope at the backup had no account that the bridge managed.
      const inScope = others.filter(({ state: each }) => each !== 'closed');
      await noteLostLinks(
        state,
        outbox,
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
 * Returns the users of a portion whose last sync is not that of their record. The state `stale` alone does not tell: when the
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
