// Reads the account of a listed member of a group to whom no user of this connection is linked. Under `authoritative` a run removes
// such members, except protected accounts and the owner of the API key, which are marked as kept.
import { fold } from '../../directory/records.ts';
import type { ScanResult } from '../scope.ts';
import type { SurplusMember } from './group-case.ts';
import { answerOf, asking } from './platform-reads.ts';

/**
 * Returns the member in a list; an empty list for an account that cannot be read. `unknown`: the owner of the API key cannot be
 * read, so the member may be the owner.
 */
export async function unmanagedMember(
  scan: ScanResult,
  platformId: string,
  display: string,
): Promise<SurplusMember[] | 'unknown'> {
  const { target } = scan.scope;
  // Under `owned` no unmanaged member is removed, so the account is not read.
  if (target.policy.groups.members === 'owned') return [{ ref: null, platformId, name: display }];
  const owner = await answerOf(scan, (signal) => target.catalogue.keyOwner(signal));
  if (owner === 'absent' || owner === 'unknown') return 'unknown';
  const listed = (await scan.unmanagedAccounts)?.get(platformId);
  const account =
    listed === undefined
      ? await asking(scan, (signal) => target.client.users.get(platformId, { signal }))
      : { userName: listed };
  if (account === 'absent' || account === 'unknown') return [];
  const names = [...target.policy.users.protected, ...(owner === undefined ? [] : [owner])].map(fold);
  const isKept = names.includes(fold(account.userName)) ? { isKept: true as const } : {};
  return [{ ref: null, platformId, name: account.userName, ...isKept }];
}
