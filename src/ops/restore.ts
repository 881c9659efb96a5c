// Puts a backup back. Every target is on hold before the first line is written and stays so: links may be older than
// reality, so a person looks at a plan before anything is written (scim-bridge plan, then release).
import type { Actor } from '../directory/acts.ts';
import type { ArchiveLine } from '../directory/archive.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { refOf, type Ref } from '../directory/records.ts';
import { contentOf, familyOf, verifyBackup, type BackupHeader, type OnItems } from './backup.ts';

export interface RestoreReport {
  createdAt: string;
  connections: string[];
  /** Items put back, by family. */
  counts: Record<string, number>;
  /** Left out: members of groups that are gone, and the older of two resources with one name. */
  dropped: number;
  /** Marked for another look once the hold is released. */
  marked: number;
}

export interface RestoreOptions {
  /** Removes what is there first. */
  replace: boolean;
  actor: Actor;
  onItems?: OnItems;
}

/** Thrown when a restore would mix two stores, or put back what the settings do not have. */
export class RestoreRefused extends Error {
  override name = 'RestoreRefused';
}

const REQUEST = 'restore';

const isRecord = ({ family }: ArchiveLine): boolean => family === 'users' || family === 'groups';
const isTombstone = ({ family }: ArchiveLine): boolean => family === 'tombstones';
/** The file is read once for each: what refers to a record comes after all records. */
const PASSES = [isRecord, isTombstone, (line: ArchiveLine) => !isRecord(line) && !isTombstone(line)];

/** @throws BrokenBackup, RestoreRefused; both before anything was changed */
export async function restore(
  states: readonly DesiredState[],
  file: string,
  { replace, actor, onItems = () => undefined }: RestoreOptions,
): Promise<RestoreReport> {
  const { header, end } = await verifyBackup(file);
  const chosen = statesFor(header, states);
  if (!replace) await refuseUnlessEmpty(chosen);
  for (const { outboxes } of chosen)
    for (const { staging } of outboxes.values())
      await staging.hold(actor.by, `restored from ${header.createdAt}`);
  for (const { archive } of chosen) await archive.clear();

  const byName = new Map(chosen.map((state) => [state.connection, state]));
  const total = Object.values(end.counts).reduce((sum, count) => sum + count, 0);
  const counts: Record<string, number> = {};
  let [done, dropped] = [0, 0];
  for (const belongs of PASSES) {
    for await (const { connection, ...line } of contentOf(file)) {
      if (!belongs(line)) continue;
      const result = await byName.get(connection)?.archive.load(line);
      const name = familyOf(line);
      if (!line.again) counts[name] = (counts[name] ?? 0) + (result?.loaded ?? 0);
      dropped += result?.dropped ?? 0;
      done += line.items.length;
      onItems(Math.min(done, total), total);
    }
  }
  for (const { archive } of chosen) await archive.finish();
  for (const { acts } of chosen)
    await acts.record({ act: 'restore', ...actor, subject: `backup of ${header.createdAt}` });
  let marked = 0;
  for (const state of chosen) marked += await markAll(state);
  return { createdAt: header.createdAt, connections: [...byName.keys()], counts, dropped, marked };
}

function statesFor({ connections }: BackupHeader, states: readonly DesiredState[]): DesiredState[] {
  return Object.entries(connections).map(([name, targets]) => {
    const state = states.find(({ connection }) => connection === name);
    if (!state)
      throw new RestoreRefused(`The backup holds the connection ${name}, which the settings do not have.`);
    const missing = targets.filter((target) => !state.outboxes.has(target));
    if (missing.length > 0)
      throw new RestoreRefused(
        `In the backup ${name} feeds ${missing.join(', ')}, in the settings it does not: add it, or restore with the settings of that time.`,
      );
    return state;
  });
}

async function refuseUnlessEmpty(states: readonly DesiredState[]): Promise<void> {
  for (const { connection, archive } of states) {
    if (!(await archive.isEmpty()))
      throw new RestoreRefused(
        `There is something stored for the connection ${connection} already: stop the service and say --replace to remove it first.`,
      );
  }
}

/** Everybody is looked at again: what was on its way when the backup was taken is so once more. */
async function markAll({ directory, links, outboxes }: DesiredState): Promise<number> {
  let marked = 0;
  for (const [target, outbox] of outboxes) {
    for (const kind of ['User', 'Group'] as const) {
      for await (const records of directory.scan(kind)) {
        const refs = records.map(({ id }) => refOf(kind, id));
        await outbox.mark(refs, 'reconcile', REQUEST);
        marked += refs.length;
      }
    }
    // Who was deleted at the source may still have to be closed.
    let gone: Ref[] = [];
    for await (const { ref } of links.all(target)) {
      gone.push(ref);
      if (gone.length < 200) continue;
      await outbox.mark(gone, 'reconcile', REQUEST);
      gone = [];
    }
    await outbox.mark(gone, 'reconcile', REQUEST);
  }
  return marked;
}
