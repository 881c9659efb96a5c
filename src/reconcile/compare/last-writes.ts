// Searches the provisioning log for the time at which the bridge last wrote a value or a membership. By this time attribution.ts
// tells whether others changed the value since, or the write did not stick.
import type { LogEntry } from '../../directory/logs/provisioning-log.ts';
import type { Ref } from '../../directory/records.ts';
import { sameValue } from '../../sync/mapping/values.ts';
import { isDrift, type PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';
import { MASKED } from './user-case.ts';
import type { VerifiedResource } from './verified.ts';

/**
 * Returns the time at which the bridge last wrote the value or membership of an entry, Unix milliseconds. For an entry with
 * several values this is the earliest time. Undefined: the log has no such write, or the bridge wrote another value.
 */
export type ValueWrittenAt = (entry: PlanEntry) => number | undefined;

interface Write {
  /** Unix milliseconds. */
  at: number;
  /** Value that was written; undefined for a membership. */
  value?: unknown;
}

/** Longest search of a long log. For a value that is not found by then, the last write of its account is used. */
const SEARCH_MS = 5000;

/** Reads the log of the target until the last write of each drifted value is found, for at most `searchMs`. */
export async function readValueWrites(
  { outbox, clock }: Pick<ReconcileScope, 'outbox' | 'clock'>,
  verified: readonly VerifiedResource[],
  searchMs = SEARCH_MS,
): Promise<ValueWrittenAt> {
  const wanted = new Map<Ref, Set<string>>();
  for (const { entries } of verified)
    for (const entry of entries.filter(isDrift)) {
      if (!entry.ref) continue;
      const names = wanted.get(entry.ref) ?? new Set<string>();
      for (const { name } of subjectsOf(entry)) names.add(name);
      if (names.size > 0) wanted.set(entry.ref, names);
    }
  const writes =
    wanted.size === 0
      ? new Map<string, Write>()
      : await search(outbox, wanted, clock, clock.now() + searchMs);
  return (entry) => {
    const times = subjectsOf(entry).map(({ name, value }) => {
      const write = writes.get(`${entry.ref ?? ''} ${name}`);
      const isOther = value !== MASKED && value !== undefined && !sameValue(write?.value, value);
      return write && !isOther ? write.at : undefined;
    });
    return times.length === 0 || times.includes(undefined)
      ? undefined
      : Math.min(...times.filter((time) => time !== undefined));
  };
}

/** Returns the last write of each wanted value that was found, by ref and name. */
async function search(
  { log }: ReconcileScope['outbox'],
  wanted: ReadonlyMap<Ref, Set<string>>,
  clock: ReconcileScope['clock'],
  endsAt: number,
): Promise<Map<string, Write>> {
  const writes = new Map<string, Write>();
  // Time of the last write of each sync. A sync writes in several calls, and its last call sets the platform's time of
  // change. The search is newest first, so the first entry of a sync is its last write.
  const ends = new Map<string, number>();
  const left = new Map([...wanted].map(([ref, names]) => [ref, new Set(names)]));
  const isWanted = ({ ref, status }: LogEntry): boolean => status === 'success' && left.has(ref);
  for await (const { entries } of log.search({}, isWanted)) {
    for (const { ref, generation, at, changes = [], members = [] } of entries) {
      const sync = `${ref} ${generation}`;
      ends.set(sync, ends.get(sync) ?? at);
      const names = left.get(ref);
      const note = (name: string, value: unknown): void => {
        if (names?.delete(name)) writes.set(`${ref} ${name}`, { at: ends.get(sync) ?? at, value });
      };
      // A change is [name, value before, value after].
      for (const [name, , after] of changes) note(name, after);
      for (const user of members) note(memberName(user), undefined);
      if (names?.size === 0) left.delete(ref);
    }
    if (left.size === 0 || clock.now() > endsAt) break;
  }
  return writes;
}

/** Returns the name of a membership among the writes of a group. */
const memberName = (user: string): string => `member ${user}`;

/** Returns the attributes and the membership that an entry changes, named as in the provisioning log, with desired values. */
function subjectsOf({ action, attribute, member, after }: PlanEntry): { name: string; value?: unknown }[] {
  if (member) return member.ref ? [{ name: memberName(member.ref.slice('User:'.length)) }] : [];
  // A missing account or group is one difference as a whole, so there is no last write of an individual value to look up.
  if (action === 'create' || action === 'relink') return [];
  return Object.entries(after ?? {}).map(([name, value]) => ({
    name: attribute === undefined ? name : `attributes.${name}`,
    value,
  }));
}
