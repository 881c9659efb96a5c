// Finds the account that has the userName or externalId of a user without account: an unmanaged one or the one of a leaver
// (`findNamesake`), which the sync may adopt, or one of another connection (`takenId`), which it may not. With the accounts of a
// whole list (`strangers`) no call is needed.
import { fold } from '../../directory/records.ts';
import type { WireUser } from '../../platform/wire.ts';
import { existsIn } from '../../sync/user/find-user.ts';
import { byExternalId } from '../../sync/user/matching-accounts.ts';
import type { DesiredAccount } from './compare.ts';
import type { ScanResult } from '../scope.ts';
import { formerAccount, noAccounts, type Namesake, type Strangers } from './strangers.ts';
import { asking } from './platform-reads.ts';

/** Returns the id of an account of another connection with the externalId or userName of the user. */
export async function takenId(
  { scope: { directory } }: ScanResult,
  { core }: DesiredAccount,
  strangers: Strangers | undefined,
): Promise<string | undefined> {
  const { byName, byExternalId } = strangers?.taken ?? noAccounts();
  const known = core.externalId == null ? undefined : byExternalId.get(String(core.externalId));
  const isKnown = known !== undefined && (await directory.identifies(String(core.externalId)));
  return (isKnown ? known : byName.get(fold(String(core.userName))))?.id;
}

/**
 * Returns an unmanaged account, or one of a deleted user, with the externalId or userName of the user; `unknown`: the platform
 * could not be read. An externalId that several users share identifies none of them (`directory.identifies`).
 */
export async function findNamesake(
  scan: ScanResult,
  { core }: DesiredAccount,
  strangers: Strangers | undefined,
): Promise<Namesake | undefined | 'unknown'> {
  const { directory, target } = scan.scope;
  const userName = String(core.userName);
  const externalId =
    core.externalId != null && (await directory.identifies(String(core.externalId)))
      ? String(core.externalId)
      : undefined;
  if (strangers) {
    const { byName, byExternalId: byId, former } = strangers;
    const known =
      externalId === undefined
        ? undefined
        : await firstFree(scan, [byId.get(externalId), former.byExternalId.get(externalId)]);
    return known ?? firstFree(scan, [byName.get(fold(userName)), former.byName.get(fold(userName))]);
  }
  if (externalId !== undefined) {
    const found = await asking(scan, (signal) => byExternalId({ target, call: { signal } }, externalId));
    if (found === 'unknown' || found === 'absent') return 'unknown';
    const exact = found.filter((user) => user.externalId === externalId);
    if (exact.length > 0) return firstFree(scan, await withFormer(scan, exact));
  }
  const found = await accountsNamed(scan, userName);
  return found === 'unknown' ? found : firstFree(scan, found);
}

/** Returns what `withFormer` returns for the accounts with the userName; `unknown`: the platform could not be read. */
export async function accountsNamed(
  scan: ScanResult,
  userName: string,
): Promise<(Namesake | undefined)[] | 'unknown'> {
  const { users } = scan.scope.target.client;
  const found = await asking(scan, (signal) => users.findBy('userName', userName, { signal }));
  if (found === 'unknown' || found === 'absent') return 'unknown';
  // The platform may ignore letter case or the filter, so each hit is compared again.
  return withFormer(
    scan,
    found.filter((user) => fold(user.userName) === fold(userName)),
  );
}

/** Returns accounts with the users who are linked to them; undefined in place of an account that is about to be deleted. */
async function withFormer({ scope }: ScanResult, users: WireUser[]): Promise<(Namesake | undefined)[]> {
  const holders = await scope.drifts.linkedTo(
    'User',
    users.map(({ id }) => id),
  );
  return users.map((user, index) => {
    const holder = holders[index];
    return holder ? formerAccount(user, holder, scope.target.policy) : user;
  });
}

/** Returns the first account that is not linked, or whose linked user has no record in the directory; undefined: there is none. */
export async function firstFree(
  { scope }: ScanResult,
  accounts: readonly (Namesake | undefined)[],
): Promise<Namesake | undefined> {
  const exists = existsIn(scope.directory);
  for (const account of accounts)
    if (account && (account.former === undefined || !(await exists(account.former)))) return account;
  return undefined;
}
