// Finds the account that has the userName or externalId of a user without account: an unmanaged one, the one of a leaver, or one of
// another connection. Also makes conflicts of renames that the platform will refuse, because an account that the bridge does not
// change has the userName.
import { parseLink } from '../../directory/outbox/link.ts';
import { fold } from '../../directory/records.ts';
import type { WireUser } from '../../platform/wire.ts';
import { existsIn } from '../../sync/user/find-user.ts';
import { byExternalId } from '../../sync/user/matching-accounts.ts';
import { isExternalIdPending } from '../../sync/names/succession.ts';
import { isFormerName } from '../../sync/names/former-name.ts';
import { takenByText } from '../../sync/names/taken-name.ts';
import type { DesiredAccount } from './compare.ts';
import { isChange, type PlanEntry } from '../entry.ts';
import type { ReconcileScope, ScanResult } from '../scope.ts';
import { formerAccount, noAccounts, type Namesake, type Strangers } from './strangers.ts';
import { asking } from './platform-reads.ts';
import type { VerifiedResource } from './verified.ts';

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
    return holder && parseLink(holder.text).id === user.id
      ? formerAccount(user, holder, scope.target.policy)
      : user;
  });
}

/** Returns the first account that is not linked, or whose linked user has no record in the directory; undefined: there is none. */
async function firstFree(
  { scope }: ScanResult,
  accounts: readonly (Namesake | undefined)[],
): Promise<Namesake | undefined> {
  const exists = existsIn(scope.directory);
  for (const account of accounts)
    if (account && (account.former === undefined || !(await exists(account.former)))) return account;
  return undefined;
}

/** Returns the userName that the entry gives to an existing account; undefined: it renames none. */
export const newNameIn = (entry: PlanEntry): string | undefined => {
  const userName = entry.after?.userName;
  const isRename = entry.action === 'update' && entry.kind === 'User' && isChange(entry);
  return isRename && typeof userName === 'string' ? userName : undefined;
};

/**
 * Returns the findings; in their entries a conflict takes the place of each rename that the platform refuses, because an account of
 * the list has the userName.
 * @param strangers accounts of a complete list
 */
export const withTakenNames = (
  scope: NameScope,
  verified: readonly VerifiedResource[],
  { byName, former }: Strangers,
): Promise<VerifiedResource[]> => {
  const holderOf = (name: string): Namesake | undefined =>
    byName.get(fold(name)) ?? former.byName.get(fold(name));
  return Promise.all(
    verified.map(async (each) => ({ ...each, entries: await judgeRenames(scope, each.entries, holderOf) })),
  );
};

type NameScope = Pick<ReconcileScope, 'directory' | 'outbox'>;

/**
 * Returns the entries; a conflict takes the place of a rename that the platform refuses, because an unmanaged account, or one of a
 * user who left or is protected, has the userName. An account of a leaver is no conflict if it gives up the userName as a former
 * one, or if another user with its externalId has a pending sync (the person was pushed anew): that sync takes the account over and
 * gives it another userName.
 * @param holderOf returns the account that has a userName; undefined: none has it
 */
async function judgeRenames(
  scope: NameScope,
  entries: readonly PlanEntry[],
  holderOf: (userName: string) => Namesake | undefined,
): Promise<PlanEntry[]> {
  const judged: PlanEntry[] = [];
  for (const entry of entries) {
    const name = newNameIn(entry);
    const holder = name === undefined ? undefined : holderOf(name);
    const { former, isProtected = false } = holder ?? {};
    const isTakenOver = former && entry.ref && (await isExternalIdPending(scope, holder ?? {}, entry.ref));
    const isGivenUp =
      former && holder?.mayGiveUpName && (await isFormerName(scope.directory, former, holder));
    if (!holder || holder.id === entry.platformId || isTakenOver || isGivenUp) {
      judged.push(entry);
      continue;
    }
    const reason = former
      ? takenByText(former, { isProtected })
      : 'userName is already taken by an account that the bridge does not manage: correct it or delete the account';
    judged.push({ ...entry, action: 'conflict', effect: 'report', reason, attribution: { cause: 'none' } });
  }
  return judged;
}

/**
 * Looks up at the platform who has the new userName, if the entries of one user rename the account, and judges them by
 * `judgeRenames`.
 * @returns null when the platform could not be read
 */
export async function withTakenName(scan: ScanResult, entries: PlanEntry[]): Promise<PlanEntry[] | null> {
  const [name] = entries.flatMap((entry) => newNameIn(entry) ?? []);
  if (name === undefined) return entries;
  const found = await accountsNamed(scan, name);
  if (found === 'unknown') return null;
  // The account of a user out of scope keeps the name, although the user has a record.
  const holder = found.find((account) => account?.keepsName) ?? (await firstFree(scan, found));
  return judgeRenames(scan.scope, entries, () => holder);
}
