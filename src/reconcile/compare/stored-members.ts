// Reads the pending memberships of a group from Redis, and decides whether a comparison of the group reads its members at the
// platform too: not always, because a large group has a long answer.
import type { Link } from '../../directory/outbox/link.ts';
import { refOf, type Ref, type StoredRecord } from '../../directory/records.ts';
import type { ScanResult } from '../scope.ts';

/**
 * Reads the stored state of the members of a group.
 * @returns `signs`: `+`, `-` or `r` by member (docs/glossary.md); `unconfirmed`: members with the sign `u`; `isRead`: the
 *   comparison reads the members at the platform too
 */
export async function readStoredMembers(
  { scope: { outbox, target } }: ScanResult,
  group: {
    id: string;
    link: Link;
    record: StoredRecord | undefined;
    wantedName: string | undefined;
    isDeleted: boolean;
  },
  {
    withMembers,
    namesOnly = false,
    unwrittenSince,
  }: { withMembers: (ref: Ref) => boolean; namesOnly?: boolean; unwrittenSince: number },
) {
  const { id, link, record, wantedName, isDeleted } = group;
  const signs = await outbox.pendingMembers(id);
  const unconfirmed = await outbox.unconfirmedRemovals(id);
  // Member changes were not written while a group was out of scope, or while the policy left its members. So the sync of
  // such a group compares all members.
  const isLeftByPolicy = link.leavers !== undefined && (isDeleted || wantedName !== undefined);
  const needsMemberReview =
    (link.departed === true && wantedName !== undefined) ||
    (isLeftByPolicy && target.policy.policy === 'sync');
  // Pending changes wait while the target is on hold, and somebody may make them at the platform meanwhile.
  const isStopped = !namesOnly && signs.size > 0 && (await outbox.guardStore.onHold()) !== undefined;
  // After the target came back into the settings, syncs wrote new changes only, so members who left before may still be there.
  const isUnwritten = !namesOnly && record !== undefined && record.lastModified > unwrittenSince;
  const isRead =
    withMembers(refOf('Group', id)) ||
    isUnwritten ||
    needsMemberReview ||
    isLeftByPolicy ||
    isStopped ||
    link.adopting === true ||
    unconfirmed.length > 0;
  return { signs, unconfirmed, needsMemberReview, isUnwritten, isRead };
}
