// Finds the accounts of a person who is no longer pushed: by the links, and those that only the log still names.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Link } from '../../directory/outbox/link.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import type { ResourceStatus } from '../../directory/outbox/resource-status.ts';
import type { Ref } from '../../directory/records.ts';
import { leaving } from '../../sync/group/members.ts';
import { mayBeActive } from '../../sync/user/account-state.ts';
import { findResources, toSearched } from '../find.ts';
import type { LookAtAccount, SeenAccount } from './account-look.ts';
import {
  addName,
  addPlatformId,
  IDENTIFYING,
  type AccountState,
  type ForgettablePerson,
} from './forgettable-person.ts';
import { readLostHandover, type HandoverRulesOf } from './lost-handover.ts';

interface AccountReaders {
  lookAt: LookAtAccount;
  handoverRules: HandoverRulesOf;
}

/** Adds the accounts of a ref, and the names in its links, to the person. */
export async function addLinks(person: ForgettablePerson, ref: Ref, readers: AccountReaders): Promise<void> {
  const { desired } = person;
  for (const outbox of desired.outboxes.values()) await addAccountAt(outbox, person, ref, readers);
  for (const target of await desired.formerTargets()) await addFormerAccount(target, person, ref);
}

/** Adds the account at a target of the settings, if there may be one or a change of it is pending. */
async function addAccountAt(
  outbox: Outbox,
  person: ForgettablePerson,
  ref: Ref,
  { lookAt, handoverRules }: AccountReaders,
): Promise<void> {
  const { desired, accounts } = person;
  const { target } = outbox;
  const link = await readLink(person, target, ref);
  const id = accountIdOf(link);
  const { isPending, groups } = pendingOf(await outbox.resourceStatus(ref));
  if (!mayHaveAccount(link) && !isPending) return;
  const handovers = desired.handovers.get(target);
  const unrecognised = (await outbox.whyUnrecognised()) ?? null;
  // At another tenant the account with this id is somebody else's. It is not looked at, even while a change is pending, because the
  // operator must not close it. Without an id the link alone tells the state.
  const isUnlooked = unrecognised !== null && id !== undefined;
  const seen = isUnlooked ? 'unread' : await lookAt(target, { ...link, ...(id !== undefined && { id }) });
  accounts.push({
    connection: desired.connection,
    target,
    platformId: id ?? null,
    state: accountState(seen, link, isPending && !isUnlooked),
    unrecognised,
    groups: mayHaveAccount(link) ? await namesOf(desired, groups) : [],
    handover: handovers ? await readLostHandover(handovers, { ref, link }, handoverRules(target)) : null,
  });
}

/** Returns whether a change of the person is not written yet, and the ids of the groups that the account may still be in. */
function pendingOf({ mark, pendingMemberships, unconfirmedRemovals }: ResourceStatus): {
  isPending: boolean;
  groups: string[];
} {
  // A kept removal (`r`) does not count as pending, because nothing writes it. An unconfirmed one (`u`) counts until a read
  // shows that the account left the group.
  const hasPending = [...pendingMemberships.values()].some((sign) => sign !== MEMBERSHIP_SIGN.keptRemoval);
  return {
    isPending: mark !== null || hasPending || unconfirmedRemovals.length > 0,
    // All pending memberships but additions: the account may still be in these groups.
    groups: [...leaving(pendingMemberships), ...unconfirmedRemovals],
  };
}

/** Adds the account at a target that left the settings. Nothing is written there, so nothing of it is pending. */
async function addFormerAccount(target: string, person: ForgettablePerson, ref: Ref): Promise<void> {
  const { desired, accounts } = person;
  const link = await readLink(person, target, ref);
  if (!mayHaveAccount(link)) return;
  const id = accountIdOf(link);
  // If the target has a new name, the account is listed under this name already.
  if (id !== undefined && (await desired.isLinkedAnew(target, { ref, id }))) return;
  const { connection } = desired;
  const account = { connection, target, platformId: id ?? null, groups: [], handover: null };
  accounts.push({ ...account, state: accountState(undefined, link, false), unrecognised: null });
}

/**
 * Adds the accounts that the log names and no resource is linked to, as after `links forget`. Nothing closes them, so they count
 * only while the platform has them, or is unread as a possible other tenant.
 */
export async function addUnlinkedAccounts(person: ForgettablePerson, lookAt: LookAtAccount): Promise<void> {
  const { desired, accounts, platformIds } = person;
  for (const [target, ids] of platformIds)
    for (const id of ids) {
      const { holderOf, elsewhere } = desired.links;
      const isLinked = (await holderOf(target, 'User', id)) ?? (await elsewhere.holderOf(target, 'User', id));
      const isListed = accounts.some((account) => account.target === target && account.platformId === id);
      if (isLinked || isListed) continue;
      const unrecognised = (await desired.whyUnrecognised(target)) ?? null;
      const seen = unrecognised ? 'unread' : await lookAt(target, { id });
      if (seen === undefined || seen === 'gone') continue;
      const account = { connection: desired.connection, target, platformId: id, groups: [], handover: null };
      accounts.push({ ...account, state: seen, unrecognised });
    }
}

/** Reads the link of a ref, and adds its names and its platform id to the person. */
async function readLink(person: ForgettablePerson, target: string, ref: Ref): Promise<Link> {
  const link = await person.desired.links.get(target, ref);
  const values = [link.core, link.tried?.core].flatMap((core) => Object.entries(core ?? {}));
  for (const [name, value] of values)
    if (IDENTIFYING.has(name) && typeof value === 'string' && value !== '') addName(person, [name, value]);
  const id = accountIdOf(link);
  if (id !== undefined) addPlatformId(person, target, id);
  return link;
}

/**
 * Returns whether the link has an account, or there may be one: an operator ordered to forget the link or a restore lost it
 * (`mayExist`), or a create got no answer (`tried`).
 */
const mayHaveAccount = ({ id, mayExist, tried }: Link): boolean => (id ?? mayExist ?? tried) !== undefined;

/** Returns the platform id of the account that the link has, or had before an operator ordered to forget the link. */
const accountIdOf = ({ id, mayExist }: Link): string | undefined => id ?? mayExist?.id;

/**
 * Returns the state of an account.
 * @param seen undefined: not looked up, because no id is known or the settings lack the target; then the link decides
 */
function accountState(seen: SeenAccount | undefined, link: Link, isPending: boolean): AccountState['state'] {
  const mayBeOpen = mayHaveAccount(link) && mayBeActive(link);
  const state = seen ?? (mayBeOpen ? 'active' : 'closed');
  // Access that the person still has matters more than a pending change, so the state stays `active`.
  return isPending && state !== 'active' ? 'pending' : state;
}

/** Returns the names of groups; of a deleted group its id. */
async function namesOf(desired: DesiredState, groups: readonly string[]): Promise<string[]> {
  const names: string[] = [];
  for (const id of groups) {
    const [group] = await findResources(toSearched([desired]), `Group:${id}`);
    names.push(group?.name ?? id);
  }
  return names;
}
