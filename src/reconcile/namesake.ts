// Finds the account that the sync of a user without account would meet: an unmanaged one, or one of another connection.
import { fold } from '../directory/records.ts';
import type { DesiredAccount } from './compare.ts';
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
