// Verifies suspected drift of groups: reads each group alone, and again if it changed during the read. verify-group.ts compares
// one.
import { parseRef, refOf, type Ref } from '../../directory/records.ts';
import { mapBounded } from '../../support/bounded.ts';
import { isUnverified, lookAgain, readNoted, toLook, type Look } from './look-again.ts';
import type { ScanResult } from '../scope.ts';
import type { VerifiedResource } from './verified.ts';
import { verifyGroup, type VerifyGroupsOptions } from './verify-group.ts';

/** Reads each group alone. A group that cannot be read, or changes at each read, is left out. */
export const verifyGroups = (
  scan: ScanResult,
  refs: Ref[],
  options: VerifyGroupsOptions,
): Promise<VerifiedResource[]> => lookAgain(scan, refs, (left) => lookAtEach(scan, left, options));

/** Reads each group once, and sorts the findings by whether the group changed meanwhile. */
async function lookAtEach(
  scan: ScanResult,
  refs: Ref[],
  options: VerifyGroupsOptions,
): Promise<Look<VerifiedResource>> {
  const { directory, drifts, runs, concurrency } = scan.scope;
  const unwrittenSince = await runs.unwrittenSince();
  const observed = await drifts.readLinks(refs);
  const records = await directory.getMany(
    'Group',
    refs.map((ref) => parseRef(ref).id),
  );
  const sound = records.filter(({ damaged }) => !damaged);
  const byRef = new Map(sound.map((record) => [refOf('Group', record.id), record]));
  let done = 0;
  const found = await mapBounded(observed, concurrency, async (each) => {
    const verified = await readNoted(
      scan,
      each,
      (notingScan) => verifyGroup(notingScan, each, byRef.get(each.ref), { ...options, unwrittenSince }),
      isUnverified,
    );
    scan.onProgress({ phase: 'members', done: ++done, total: refs.length });
    return verified;
  });
  const now = await drifts.readLinks(refs);
  return toLook(found, observed, now);
}
