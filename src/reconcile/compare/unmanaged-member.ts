// Decides whether a listed member of a group counts as surplus, if no user of this connection is linked to the account. Protected
// accounts and the owner of the API key are left out, because a run removes surplus members under `authoritative`.
import { fold } from '../../directory/records.ts';
import type { ScanResult } from '../scope.ts';
import type { Member } from './group-case.ts';
import { answerOf, asking } from './platform-reads.ts';

/**
 * Returns the member in a list; an empty list for an account that is protected, owns the API key, or cannot be read. `unknown`: the
 * owner of the API key cannot be read, so the member may be the owner.
 */
export async function unmanagedMember(
  scan: ScanResult,
  platformId: string,
  display: string,
): Promise<Member[] | 'unknown'> {
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
  return names.includes(fold(account.userName)) ? [] : [{ ref: null, platformId, name: account.userName }];
}
