// The end of a run: counts how everything stored stands now, and does not let a run end as converged while somebody or
// something desired is still not there.
import { count, LOST, noCoverage, type Coverage } from '../directory/outbox/coverage.ts';
import { parseLink } from '../directory/outbox/links.ts';
import type { Kind, Ref } from '../directory/records.ts';
import type { CoverageOfKinds } from '../directory/outbox/runs.ts';
import type { ReconcileScope } from './scope.ts';

export interface CoverageResult {
  coverage: CoverageOfKinds;
  /** Not covered, and nothing is on its way. */
  lost: Ref[];
}

/**
 * Reads how everything stands, without a call to the platform.
 * @param isShown whether the lists of this run showed what a resource is linked to
 * @param startedAt of the run, Unix milliseconds: what was written since was answered by the platform, so it is seen too
 */
export async function readCoverageResult(
  estate: ReconcileScope,
  isShown: (ref: Ref, platformId: string) => boolean,
  startedAt: number,
): Promise<CoverageResult> {
  const lost: Ref[] = [];
  const read = async (kind: Kind): Promise<Coverage> => {
    const coverage = { ...noCoverage(), seen: 0 };
    for await (const portion of estate.coverage.resources(kind)) {
      count(coverage, portion);
      for (const { ref, state } of portion.others) if (LOST.has(state)) lost.push(ref);
      const unseen = portion.linked.filter(({ ref, platformId }) => !isShown(ref, platformId));
      const links = await estate.drifts.standing(unseen.map(({ ref }) => ref));
      const written = links.filter(({ text }) => (parseLink(text).writtenAt ?? 0) >= startedAt);
      coverage.seen += portion.linked.length - unseen.length + written.length;
    }
    return coverage;
  };
  return { coverage: { users: await read('User'), groups: await read('Group') }, lost };
}

/** In words: how many desired resources nothing is going to bring in line. */
export function whatIsMissing({ users, groups }: CoverageOfKinds): string {
  const parts = [
    ...(users.missing > 0 ? [`${users.missing} desired ${users.missing === 1 ? 'person' : 'people'}`] : []),
    ...(groups.missing > 0 ? [`${groups.missing} desired ${groups.missing === 1 ? 'group' : 'groups'}`] : []),
  ];
  return `not there: ${parts.join(' and ')}; run reconcile again, then doctor --deep`;
}
