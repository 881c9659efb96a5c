// Compares one user or group with the platform; writes nothing.
import type { Ref } from '../directory/records.ts';
import type { PlanEntry } from './entry.ts';
import { withFollowers } from './followers.ts';
import { createNarrowScan } from './narrow-scan.ts';
import type { ReconcileScope } from './scope.ts';
import { verifyGroups } from './verify-groups.ts';
import { verifyUsers } from './verify-users.ts';

/**
 * @param members whether the members of a group are compared too
 * @returns the differences; null when the platform could not be read
 */
export async function compareOne(
  scope: ReconcileScope,
  ref: Ref,
  { signal, members = true }: { signal: AbortSignal; members?: boolean },
): Promise<PlanEntry[] | null> {
  const scan = createNarrowScan(scope, signal);
  const verified = ref.startsWith('User:')
    ? await verifyUsers(scan, [ref], { withValues: () => true })
    : await verifyGroups(scan, [ref], { withMembers: () => members });
  const [first] = verified;
  return first ? withFollowers(scan, first.entries, verified) : null;
}
