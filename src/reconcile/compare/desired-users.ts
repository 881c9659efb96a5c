// Maps the records of single users for a comparison.
import type { ObservedResource } from '../../directory/outbox/drift.ts';
import type { Link } from '../../directory/outbox/link.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import type { Resource } from '../../scim/index.ts';
import { desiredFromRecord, type DesiredAccount } from './compare.ts';
import type { ReconcileScope } from '../scope.ts';

/** The mapped record of a user. */
export interface UserToVerify {
  version: number;
  /** Desired state of the user at the target. */
  wanted: DesiredAccount;
  /** Attributes whose mapping failed. */
  faults: string[];
}

/** Returns the desired state of the users that have a record, by ref. */
export async function usersToVerify(
  { directory, target }: Pick<ReconcileScope, 'directory' | 'target'>,
  observed: readonly Pick<ObservedResource, 'ref'>[],
): Promise<Map<Ref, UserToVerify>> {
  const wanted = new Map<Ref, UserToVerify>();
  for await (const users of directory.usersIn(observed.map(({ ref }) => parseRef(ref).id))) {
    for (const { record, groups } of users) {
      // A damaged record cannot be mapped; the user is compared as one without record.
      if (record.damaged) continue;
      const desired = await target.mapping.user(JSON.parse(record.text) as Resource, record.id, groups);
      wanted.set(`User:${record.id}`, {
        version: record.version,
        wanted: desiredFromRecord(desired),
        faults: desired.faults.map(({ attribute, reason }) => `${attribute} ${reason}`),
      });
    }
  }
  return wanted;
}

/** Returns whether a departed user is in scope again. */
export const isReturning = ({ departed }: Link, user: UserToVerify | undefined): boolean =>
  departed === true && user?.wanted.inScope === true;

/** Returns whether the user is in scope and the mapping of an attribute fails. */
export const isUnmappable = (user: UserToVerify | undefined): user is UserToVerify =>
  user !== undefined && user.wanted.inScope && user.faults.length > 0;
