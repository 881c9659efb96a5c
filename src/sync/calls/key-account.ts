// Reads the account that an API key belongs to, and recognises it among the accounts of links. It is recognised by its id, because
// somebody may rename it at the platform.
import type { Link } from '../../directory/outbox/link.ts';
import { fold } from '../../directory/records.ts';
import type { CallOptions, PlatformClient } from '../../platform/client.ts';
import { EndpointAbsent, PlatformResponse } from '../../platform/errors.ts';

/** The account that an API key belongs to. */
export interface KeyAccount {
  /** Folded, as it was when the owner was read: somebody may have renamed the account since. */
  userName: string;
  /** SCIM id, which never changes. Undefined: not read yet, or not exactly one SCIM account had the userName. */
  id?: string;
}

export interface ReadOwner extends KeyAccount {
  isActiveAdministrator: boolean;
}

/**
 * Reads the account of the API key, and its SCIM id.
 * @param learn called with the owner as soon as its name is known, and again with its id; with undefined if the key has no owner
 * @throws PlatformError
 */
export async function readOwner(
  { accounts, users }: Pick<PlatformClient, 'accounts' | 'users'>,
  learn: (owner: ReadOwner | undefined) => void,
  call: CallOptions,
): Promise<ReadOwner | undefined> {
  const account = await accounts.me(call).catch(unlessAnswered);
  if (!account) {
    learn(undefined);
    return undefined;
  }
  const userName = fold(account.username);
  const owner: ReadOwner = {
    userName,
    isActiveAdministrator: account.isAdmin && account.isDeactivated !== true,
  };
  learn(owner);
  // No record has both ids of a person (contract 3.4), so the SCIM account is found by the name that the owner has now.
  const found = (await users.findBy('userName', account.username, call).catch(unlessAnswered)) ?? [];
  const [match, ...others] = found.filter((user) => fold(user.userName) === userName);
  if (!match || others.length > 0) return owner;
  const withId = { ...owner, id: match.id };
  learn(withId);
  return withId;
}

/**
 * Returns undefined for an error that tells: the tenant lacks this endpoint, or the key belongs to no person. A proxy may give the
 * same answer for a while, so an absent owner is read again after KEEP_ABSENT_MS. @throws every other error
 */
function unlessAnswered(error: unknown): undefined {
  if (error instanceof EndpointAbsent) return undefined;
  if (error instanceof PlatformResponse && [400, 403, 404].includes(error.status)) return undefined;
  throw error;
}

/**
 * Returns whether the owner of the key has the account of a link, or without link the account that is looked up by the userName.
 * If an id is not known, the name decides: the account keeps its name at the platform while the source has another one, so both
 * count.
 * @param userName the one that the account is to have
 */
export function ownsKey(
  { id, core }: { id?: string | undefined; core?: Link['core'] | undefined },
  userName: string,
  owner: KeyAccount | undefined,
): boolean {
  if (owner === undefined) return false;
  if (id !== undefined && owner.id !== undefined) return id === owner.id;
  const names = [userName, ...(id === undefined ? [] : [String(core?.userName ?? '')])];
  return names.some((name) => fold(name) === owner.userName);
}
