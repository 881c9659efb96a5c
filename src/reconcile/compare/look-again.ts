// Reads a resource again if a push or the bridge changed it during the read, because the first result may be outdated.
// Leaving it to the sync of that change is not enough: the sync does not repair other values that were changed at the
// platform.
import type { ObservedResource } from '../../directory/outbox/drift.ts';
import { parseLink } from '../../directory/outbox/link.ts';
import type { Ref } from '../../directory/records.ts';
import type { ScanResult } from '../scope.ts';

/** Largest number of reads of one resource in a run. */
const MAX_READS = 3;

/** Findings of one read. */
export interface Look<T> {
  verified: T[];
  /** Resources that changed meanwhile. */
  moved: Ref[];
}

/** Returns the findings of all resources except those that changed during every read, which `scan.counts.moved` counts. */
export async function lookAgain<T>(
  { counts, unread }: ScanResult,
  refs: Ref[],
  lookAt: (refs: Ref[]) => Promise<Look<T>>,
): Promise<T[]> {
  const all: T[] = [];
  const unreadBefore = new Set(unread.keys());
  let left = refs;
  for (let look = 1; look <= MAX_READS && left.length > 0; look++) {
    const { verified, moved } = await lookAt(left);
    for (const each of verified) all.push(each);
    left = moved;
    // The next read decides whether the resource could be read; what another comparison did not read stays noted.
    if (look < MAX_READS) for (const ref of moved) if (!unreadBefore.has(ref)) unread.delete(ref);
  }
  counts.moved += left.length;
  return all;
}

/**
 * Runs the reads of one resource.
 * @param isUnread whether the result says that the resource could not be read; such a resource is noted, with the last failed read
 */
export async function readNoted<T>(
  scan: ScanResult,
  { ref, text }: ObservedResource,
  run: (scan: ScanResult) => Promise<T>,
  isUnread: (result: T) => boolean,
): Promise<T> {
  let why: string | null = null;
  const noteFailure = (failure: string): void => {
    why = failure;
    scan.noteFailure?.(failure);
  };
  const result = await run({ ...scan, noteFailure });
  if (!isUnread(result)) return result;
  const { userName, displayName } = parseLink(text).core ?? {};
  scan.unread.set(ref, { ref, name: String(userName ?? displayName ?? ref), why });
  return result;
}

/** Returns whether a resource could not be verified, or not its values, because the platform could not be read. */
export const isUnverified = (verified: { areValuesUnread?: boolean } | undefined): boolean =>
  verified === undefined || verified.areValuesUnread === true;

/** Returns how many of these resources were not verified completely, for example because they changed during every read. */
export function countUnverified<T extends { ref: Ref; areValuesUnread?: boolean }>(
  refs: ReadonlySet<Ref>,
  found: readonly T[],
): number {
  const verified = new Set(found.filter((each) => !isUnverified(each)).map(({ ref }) => ref));
  return [...refs].filter((ref) => !verified.has(ref)).length;
}

/**
 * Sorts findings by whether mark and link are the same before and after the read. If they are not, a difference may be the
 * bridge's own write. A resource that could not be read is left out (`readNoted`).
 */
export function toLook<T extends { ref: Ref }>(
  found: readonly (T | undefined)[],
  before: readonly ObservedResource[],
  after: readonly ObservedResource[],
): Look<T> {
  const look: Look<T> = { verified: [], moved: [] };
  found.forEach((each, index) => {
    const was = before[index];
    const is = after[index];
    if (!each) return;
    if (was?.text === is?.text && was?.marked === is?.marked) look.verified.push(each);
    else look.moved.push(each.ref);
  });
  return look;
}
