// Counts the state of all stored resources at the end of a run, so that no run ends as converged while a desired resource
// is missing.
import { count, LOST, noCoverage, type Coverage } from '../../directory/outbox/coverage.ts';
import { parseLink } from '../../directory/outbox/link.ts';
import type { Kind, Ref } from '../../directory/records.ts';
import type { CoverageOfKinds } from '../../directory/outbox/runs.ts';
import type { ReconcileScope } from '../scope.ts';

/**
 * Reads the state of all resources from Redis, without a call to the platform.
 * @param isShown returns whether the lists of this run showed the linked account or group of a resource
 * @param compared coverage of the comparison; a `seen` of null, of a list that was not read completely, stays null
 * @param startedAt start of the run, Unix milliseconds; a resource that was written since counts as shown
 * @returns also the lost resources: no sync of them is due, although one is needed
 */
export async function readCoverageResult(
  scope: ReconcileScope,
  isShown: (ref: Ref, platformId: string) => boolean,
  compared: CoverageOfKinds,
  startedAt: number,
): Promise<{ coverage: CoverageOfKinds; lost: Ref[] }> {
  const lost: Ref[] = [];
  // Only a policy that closes accounts has to know those of users out of scope (ClosingPolicy in directory/outbox/coverage.ts).
  const closes = scope.target.policy.policy === 'sync';
  const read = async (kind: Kind, { seen }: Coverage): Promise<Coverage> => {
    const coverage = { ...noCoverage(), seen: 0 };
    for await (const portion of scope.coverage.resources(kind, { closes })) {
      count(coverage, portion);
      for (const { ref, state } of portion.others) if (LOST.has(state)) lost.push(ref);
      const notShown = portion.linked.filter(({ ref, platformId }) => !isShown(ref, platformId));
      // `drifts.readLinks` reads links and marks from Redis; the platform is not asked.
      const links = await scope.drifts.readLinks(notShown.map(({ ref }) => ref));
      // The run itself created or wrote such an account or group after the list was read.
      const written = links.filter(({ text }) => (parseLink(text).writtenAt ?? 0) >= startedAt);
      coverage.seen += portion.linked.length - notShown.length + written.length;
    }
    return seen === null ? { ...coverage, seen } : coverage;
  };
  const users = await read('User', compared.users);
  const groups = await read('Group', compared.groups);
  return { coverage: { users, groups }, lost };
}

/**
 * Returns `seen` of the last run: the number of linked accounts or groups that its lists showed. Null: the number of linked
 * resources has changed since.
 * @param then coverage of the last run
 */
export const seenThen = ({ linked }: Coverage, then: Coverage | undefined): number | null =>
  then?.linked === linked ? then.seen : null;

/** Returns a sentence with the number of desired resources that are missing and not pending. */
export function whatIsMissing({ users, groups }: CoverageOfKinds): string {
  const parts = [
    ...(users.missing > 0 ? [`${users.missing} desired ${users.missing === 1 ? 'person' : 'people'}`] : []),
    ...(groups.missing > 0 ? [`${groups.missing} desired ${groups.missing === 1 ? 'group' : 'groups'}`] : []),
  ];
  return `not there: ${parts.join(' and ')}; run scim-bridge reconcile again, then scim-bridge doctor --deep`;
}
