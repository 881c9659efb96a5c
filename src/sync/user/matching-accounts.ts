// Looks up accounts at the platform that may be those of a user, by externalId and userName. find-user.ts decides whether one of
// them is adopted.
import { fold } from '../../directory/records.ts';
import type { WireUser } from '../../platform/wire.ts';
import type { SyncContext } from '../context.ts';
import { observedCore } from '../diff.ts';
import { isStatus } from '../calls/failures.ts';
import { externalIdOf, type Core } from '../mapping/mapping.ts';
import { isMadeAccount, preferMade } from '../names/lost-create.ts';

/** Attributes that distinguish two people with the same externalId. */
const PERSONAL = ['displayName', 'name.givenName', 'name.familyName'];

/**
 * Finds accounts by externalId, if that is unique at this source (`identifies`), then by userName. Every hit is compared again,
 * because the platform may ignore a filter.
 */
export async function accountsMatching(context: SyncContext, core: Core): Promise<WireUser[]> {
  const userName = String(core.userName);
  const externalId = externalIdOf(core);
  const { users } = context.target.client;
  if (externalId !== null && (await context.directory.identifies(externalId))) {
    const exact = (await byExternalId(context, externalId)).filter((user) => user.externalId === externalId);
    // Checked again, because another user may have received the externalId during the platform call.
    if (exact.length > 0 && (await context.directory.identifies(externalId))) return exact;
  }
  const withUserName = async (wanted: string): Promise<WireUser[]> => {
    const found = await users.findBy('userName', wanted, context.call);
    return found.filter((user) => fold(user.userName) === fold(wanted));
  };
  const exact = await withUserName(userName);
  /** userName of an earlier create whose answer was lost; without one, the present userName. */
  const tried = String(context.link.tried?.core.userName ?? userName);
  if (fold(tried) === fold(userName)) return exact.length > 0 ? exact : renamed(context, core, externalId);
  // An earlier create used another userName. An account with that name may be linked to another user by now.
  return preferMade(context, exact, async () => {
    const made: WireUser[] = [];
    for (const user of await withUserName(tried)) if (await isMadeAccount(context, user)) made.push(user);
    return made;
  });
}

/** Filters by externalId, which the platform does not document. After a refusal of the filter the target is not asked again. */
export async function byExternalId(
  { target, call }: Pick<SyncContext, 'target' | 'call'>,
  externalId: string,
): Promise<WireUser[]> {
  if (target.lacks.externalIdFilter) return [];
  try {
    return await target.client.users.findBy('externalId', externalId, call);
  } catch (error) {
    if (!isStatus(error, 400, 501)) throw error;
    target.lacks.externalIdFilter = true;
    return [];
  }
}

/**
 * Finds the account of a user who was renamed before the account was found, by externalId. An externalId may be shared, so the
 * account's names must agree too, and no other user may have the externalId.
 */
async function renamed(context: SyncContext, core: Core, externalId: string | null): Promise<WireUser[]> {
  if (externalId === null) return [];
  const holders = (await context.directory.lookup('User', 'externalid', externalId)) ?? [];
  const isShared = holders.length > 1;
  // Without a display name, too few names are left to compare.
  if (isShared || typeof core.displayName !== 'string') return [];
  const found = await byExternalId(context, externalId);
  return found.filter((user) => {
    const shown = observedCore(user, core);
    return (
      user.externalId === externalId &&
      PERSONAL.every((name) => (shown[name] ?? null) === (core[name] ?? null))
    );
  });
}
