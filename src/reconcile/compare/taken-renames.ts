// Makes conflicts of renames that the platform will refuse, because an account that the bridge does not rename has the userName.
// A run finds the holders of names in the user list (`withTakenNames`), the comparison of one user by a call (`withTakenName`).
import { fold } from '../../directory/records.ts';
import { isExternalIdPending } from '../../sync/names/succession.ts';
import { isFormerName } from '../../sync/names/former-name.ts';
import { takenByText } from '../../sync/names/taken-name.ts';
import { isChange, type PlanEntry } from '../entry.ts';
import type { ReconcileScope, ScanResult } from '../scope.ts';
import { accountsNamed, firstFree } from './namesake.ts';
import type { Namesake, Strangers } from './strangers.ts';
import type { VerifiedResource } from './verified.ts';

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

/** Returns the userName that the entry gives to an existing account; undefined: it renames none. */
export const newNameIn = (entry: PlanEntry): string | undefined => {
  const userName = entry.after?.userName;
  const isRename = entry.action === 'update' && entry.kind === 'User' && isChange(entry);
  return isRename && typeof userName === 'string' ? userName : undefined;
};
