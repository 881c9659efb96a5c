// Finds the account of a user whose link leads to no account. Reads the platform and Redis, writes nothing.
import { fold, parseRef, type Ref } from '../directory/records.ts';
import type { Link } from '../directory/outbox/link.ts';
import type { FoundResource } from '../ops/find.ts';
import type { PlatformClient } from '../platform/client.ts';
import type { CallOptions } from '../platform/request.ts';
import type { WireUser } from '../platform/wire.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { isStatus } from '../sync/calls/failures.ts';
import type { Core } from '../sync/mapping/mapping.ts';
import { givenUpText, isGivenUp, takenText } from '../sync/names/taken-by-connection.ts';
import { LISTED_AS_PROTECTED } from '../sync/target.ts';
import { newestEntries } from './last-write.ts';
import { isProtectedName } from '../sync/user/protected-user.ts';

/**
 * Result of the search. `none`: there is no account. `unnamed`: the user is deleted and no userName is stored any more, so no
 * account can be looked up. `found`: there is an account that the bridge does not manage, and `why` says why. `former`: the
 * account is linked to the former record of the same person, which was deleted at the source before the person was pushed again
 * under a new id; `why` names that record and says whether the account is open.
 */
export type UnlinkedAccount =
  { kind: 'none' } | { kind: 'unnamed' } | { kind: 'found' | 'former'; id: string; why: string };

/**
 * Looks the account up by externalId, where it identifies a user, and by userName. Accounts of other users of this connection
 * are left out: a deleted user may have the name of a present one.
 */
export async function findUnlinked(
  scope: ReconcileScope,
  person: FoundResource,
  link: Link,
  client: PlatformClient,
  call: CallOptions,
): Promise<UnlinkedAccount> {
  const userName = await nameOf(scope, person, link);
  if (userName === undefined) return { kind: 'unnamed' };
  const externalId = externalIdOf(person, link);
  const found = [
    ...(await byExternalId(scope, externalId, client, call)),
    ...(await client.users.findBy('userName', userName, call)).filter(
      (user) => fold(user.userName) === fold(userName),
    ),
  ];
  const holders = await Promise.all(
    found.map(({ id }) => scope.links.holderOf(scope.target.name, 'User', id)),
  );
  // Accounts that are linked to no user, or to `person`.
  const free = found.filter((_, index) => [undefined, person.ref].includes(holders[index]));
  // An open account gives access, so it comes before a closed one.
  const account = free.find(({ active }) => active !== false) ?? free[0];
  if (account)
    return {
      kind: 'found',
      id: account.id,
      why: await whyUnmanaged(scope, person.ref, { core: { userName, externalId }, link, account }),
    };
  // Only a person who is pushed again has a former record.
  return (person.record && (await formerAccount(scope, found, holders))) ?? { kind: 'none' };
}

/**
 * Returns the first account that is linked to a record which no longer exists. @param holders the records, in the order of `found`
 */
async function formerAccount(
  { directory }: ReconcileScope,
  found: readonly WireUser[],
  holders: readonly (Ref | undefined)[],
): Promise<UnlinkedAccount | undefined> {
  for (const [index, { id, active }] of found.entries()) {
    const holder = holders[index];
    if (holder === undefined) continue;
    const isOfPresentUser = (await directory.get('User', parseRef(holder).id)) !== undefined;
    if (isOfPresentUser) continue;
    const why = `the account belongs to the former record ${holder}, deleted at the source, and is ${active === false ? 'closed' : 'open'}`;
    return { kind: 'former', id, why };
  }
  return undefined;
}

/** Returns the userName by which the account is looked up; undefined: none is stored any more. */
async function nameOf(
  { outbox }: ReconcileScope,
  { ref, id, name, record }: FoundResource,
  { core }: Link,
): Promise<string | undefined> {
  if (record) return name;
  if (typeof core?.userName === 'string') return core.userName;
  // The name of a deleted user is its id if no link or record has a name (find.ts).
  return name === id ? loggedName(outbox, ref, id) : name;
}

/** Returns the newest userName that the provisioning log has for a user. An entry without it has '' or the id as name. */
async function loggedName(
  outbox: ReconcileScope['outbox'],
  ref: Ref,
  id: string,
): Promise<string | undefined> {
  for await (const entry of newestEntries(outbox))
    if (entry.ref === ref && entry.name !== '' && entry.name !== id) return entry.name;
  return undefined;
}

/** Returns the externalId of the record; if the record is missing or damaged, that of the link. */
function externalIdOf({ record }: FoundResource, { core }: Link): string | null {
  const known = !record || record.damaged ? core : (JSON.parse(record.text) as { externalId?: unknown });
  return typeof known?.externalId === 'string' ? known.externalId : null;
}

/** Returns the accounts with the externalId, if it identifies a user and the platform can filter by it. */
async function byExternalId(
  { directory, target }: ReconcileScope,
  externalId: string | null,
  { users }: PlatformClient,
  call: CallOptions,
): Promise<WireUser[]> {
  // An earlier call may have found that the platform does not support the filter.
  if (externalId === null || target.lacks.externalIdFilter) return [];
  // Several users may share an externalId, which then identifies none of them.
  if (!(await directory.identifies(externalId))) return [];
  try {
    return (await users.findBy('externalId', externalId, call)).filter(
      (user) => user.externalId === externalId,
    );
  } catch (error) {
    // The platform does not support the filter, so only the userName can find the account.
    if (!isStatus(error, 400, 501)) throw error;
    return [];
  }
}

/** Returns why no link of this connection leads to the account. */
async function whyUnmanaged(
  scope: ReconcileScope,
  ref: Ref,
  { core, link: { condition }, account: { id, userName } }: { core: Core; link: Link; account: WireUser },
): Promise<string> {
  const { links, outbox, target } = scope;
  if (condition) {
    // `givenUpText` promises another attempt. A dead letter that an operator dropped gets none, so its condition is told.
    const isDeadLetter = (await outbox.resourceStatus(ref)).blockedSince !== null;
    return isDeadLetter && (await isGivenUp(scope, ref, condition)) ? givenUpText(ref) : condition.message;
  }
  // `elsewhere`: the links of the other connections.
  const holder = await links.elsewhere.holderOf(target.name, 'User', id);
  if (holder) return takenText('User', holder, { target: target.name, core });
  return isProtectedName({ target }, userName) ? LISTED_AS_PROTECTED : 'no link leads to it';
}
