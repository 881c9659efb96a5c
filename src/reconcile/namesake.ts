// Finds the account that the sync of a user without account would meet: an unmanaged one, or one of another connection.
import { fold } from '../directory/records.ts';
import type { DesiredAccount } from './compare.ts';
import { isChange, type PlanEntry } from './entry.ts';
import type { ScanResult } from './scope.ts';
import { noTaken, type TakenIds } from './taken.ts';
import { asking } from './platform-reads.ts';

/** Unmanaged accounts of a complete list, by folded userName and by externalId. */
export interface Strangers {
  byName: ReadonlyMap<string, { id: string; userName: string }>;
  byExternalId: ReadonlyMap<string, { id: string; userName: string }>;
  /** Accounts of other connections. */
  taken: TakenIds;
}

/** An account that no connection is linked to, under the name of the user. */
type Namesake = { id: string; userName: string };

/** Returns the id of an account of another connection with the externalId or userName of the user. */
export async function takenId(
  { scope: { directory } }: ScanResult,
  { core }: DesiredAccount,
  strangers: Strangers | undefined,
): Promise<string | undefined> {
  const { byName, byExternalId } = strangers?.taken ?? noTaken();
  const known = core.externalId == null ? undefined : byExternalId.get(String(core.externalId));
  const isKnown = known !== undefined && (await directory.identifies(String(core.externalId)));
  return isKnown ? known : byName.get(fold(String(core.userName)));
}

/** Returns an unmanaged account with the externalId or userName of the user. */
export async function findNamesake(
  scan: ScanResult,
  { core }: DesiredAccount,
  strangers: Strangers | undefined,
): Promise<Namesake | undefined | 'unknown'> {
  const userName = String(core.userName);
  if (strangers) {
    const known = core.externalId == null ? undefined : strangers.byExternalId.get(String(core.externalId));
    const isKnown = known && (await scan.scope.directory.identifies(String(core.externalId)));
    return isKnown ? known : strangers.byName.get(fold(userName));
  }
  const found = await asking(scan, (signal) =>
    scan.scope.target.client.users.findBy('userName', userName, { signal }),
  );
  if (found === 'unknown' || found === 'absent') return 'unknown';
  // The platform may ignore letter case or the filter, so each hit is compared again.
  const exact = found.filter((user) => fold(user.userName) === fold(userName));
  const holders = await scan.scope.drifts.linkedTo(
    'User',
    exact.map(({ id }) => id),
  );
  return exact.find((_, index) => holders[index] === undefined);
}

/** Returns the userName that the entry gives to an existing account; undefined: it renames none. */
const newNameIn = (entry: PlanEntry): string | undefined => {
  const userName = entry.after?.userName;
  const isRename = entry.action === 'update' && entry.kind === 'User' && isChange(entry);
  return isRename && typeof userName === 'string' ? userName : undefined;
};

/**
 * Returns the entries; a conflict takes the place of a rename that the platform refuses, because an unmanaged account has the
 * userName.
 * @param holderOf returns the unmanaged account with a userName
 */
export const withTakenNames = (
  entries: PlanEntry[],
  holderOf: (userName: string) => Namesake | undefined,
): PlanEntry[] =>
  entries.map((entry) => {
    const name = newNameIn(entry);
    const holder = name === undefined ? undefined : holderOf(name);
    if (!holder || holder.id === entry.platformId) return entry;
    const reason =
      'userName is already taken by an account that the bridge does not manage: correct it or delete the account';
    return { ...entry, action: 'conflict', effect: 'report', reason, attribution: { cause: 'none' } };
  });

/** Looks up the new name of one user and returns the entries as `withTakenNames`; null when the platform could not be read. */
export async function withTakenName(scan: ScanResult, entries: PlanEntry[]): Promise<PlanEntry[] | null> {
  const [name] = entries.flatMap((entry) => newNameIn(entry) ?? []);
  if (name === undefined) return entries;
  const core = { userName: name };
  const wanted: DesiredAccount = { inScope: true, active: true, core, attributes: {} };
  const holder = await findNamesake(scan, wanted, undefined);
  return holder === 'unknown' ? null : withTakenNames(entries, () => holder);
}
