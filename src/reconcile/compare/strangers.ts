// Keeps the accounts of a user list that the sync of a user without account may find under the name or externalId of the user (the
// namesakes of the user). Three sorts: unmanaged accounts, accounts of users who left (`former`), and accounts of other connections
// (`taken`). The account of a user who left is kept apart because the sync takes it over, unless a pending sync deletes it first.
import type { ObservedResource } from '../../directory/outbox/drift.ts';
import { isNeverRenamed, parseLink, type Link } from '../../directory/outbox/link.ts';
import { fold, type Ref } from '../../directory/records.ts';
import type { WireUser } from '../../platform/wire.ts';
import type { SyncPolicy } from '../../sync/target.ts';
import { isDeletedOnceClosed } from '../../sync/user/deletion-due.ts';

/** Unmanaged accounts of a complete list, by folded userName and by externalId. */
export interface Strangers extends Accounts {
  /** Accounts of users who left. */
  former: Accounts;
  /** Accounts of other connections. */
  taken: Accounts;
}

/** Accounts by folded userName and by externalId. */
export interface Accounts {
  byName: Map<string, Namesake>;
  byExternalId: Map<string, Namesake>;
}

/** An account that may have the name of a user without account: unmanaged, of a user who left, or of another connection. */
export interface Namesake {
  id: string;
  userName: string;
  externalId?: string | undefined;
  /** The user who left; of an account that was looked up alone, any user who is linked to it. */
  former?: Ref;
  /**
   * Whether no sync renames the account: its user left, or is protected or out of scope (and may still have a record). False while
   * a sync of the user is pending: the user may be back.
   */
  keepsName?: boolean;
  /**
   * Whether the account is closed, or a pending sync closes it, so that the sync of the user who left gives up a former userName
   * (sync/names/former-name.ts).
   */
  mayGiveUpName?: boolean;
  /** As in `Link`. */
  hasFormerName?: true | undefined;
  /** As in `Link`. */
  basis?: string | undefined;
  /** Whether the linked user is protected. */
  isProtected?: boolean;
  /** Whether the pending sync of the user who left closes the account. */
  isClosing?: boolean;
}

export const noAccounts = (): Accounts => ({ byName: new Map(), byExternalId: new Map() });

/** Adds an account that no user of this connection is linked to. */
export const addAccount = (accounts: Accounts, { id, userName, externalId }: WireUser): void =>
  add(accounts, externalId, { id, userName });

function add({ byName, byExternalId }: Accounts, externalId: string | undefined, account: Namesake): void {
  byName.set(fold(account.userName), account);
  if (externalId) byExternalId.set(externalId, account);
}

/** Adds the account of a user who left, unless `formerAccount` says that it is to be deleted. */
export function addFormer(
  accounts: Accounts,
  user: WireUser,
  holder: ObservedResource,
  policy: SyncPolicy,
): void {
  const account = formerAccount(user, holder, policy);
  if (account) add(accounts, user.externalId, account);
}

/**
 * Returns an account with the user who left; undefined when the pending sync of this user deletes the account, or an approval of
 * the held change of this user leads to the deletion.
 */
export function formerAccount(
  { id, userName, externalId }: WireUser,
  { ref, text, marked }: ObservedResource,
  { policy, users }: SyncPolicy,
): Namesake | undefined {
  const link = parseLink(text);
  if (policy === 'sync' && isToBeDeleted(link, marked, users)) return undefined;
  const isClosing = marked && policy === 'sync' && link.departed !== true;
  // A condition of a departed user says that the account is protected, or that its deletion is held, rejected or refused.
  const isClosed = policy === 'sync' && link.departed === true && !link.condition;
  return {
    id,
    userName,
    externalId,
    former: ref,
    keepsName: isNeverRenamed(link) && !marked,
    // Only the name of the link is given up, not one that somebody gave to the account by hand.
    mayGiveUpName:
      (isClosed || (isClosing && !link.condition)) && fold(String(link.core?.userName)) === fold(userName),
    hasFormerName: link.hasFormerName,
    basis: link.basis,
    isProtected: link.condition?.reason === 'Protected',
    isClosing,
  };
}

/** Returns whether the pending sync, or the approval of the held change, of a user who left leads to the deletion of the account. */
function isToBeDeleted({ condition, departed }: Link, marked: boolean, users: SyncPolicy['users']): boolean {
  const isHeld = condition?.reason === 'Held' || condition?.reason === 'LastAdministrator';
  if (users.deprovision === 'delete') return marked || isHeld;
  // The account of a departed user is closed, so the change that is held is its deletion. Otherwise the deactivation is held.
  return isHeld && !marked && (departed === true || isDeletedOnceClosed(users));
}
