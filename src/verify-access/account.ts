// Reads a user's account from the platform (`readAccount`): the SCIM user; then, at the same time, the number of its account (under
// which values are stored), its groups and the attribute definitions; last, its values. The bridge's link only supplies the ids.
import { EndpointAbsent, PlatformDecode, PlatformResponse } from '../platform/errors.ts';
import type { PlatformClient } from '../platform/client.ts';
import type { CallOptions } from '../platform/request.ts';
import type { AttributeValue, UserAttribute, WireUser } from '../platform/wire.ts';
import { EXTENSION } from '../sync/diff.ts';
import { consoleAccountsOf } from '../sync/user/user-list.ts';
import type { AccountView } from './report.ts';

/** A managed group that the user should be in, or should have left, with its name at the platform. */
export interface ExpectedGroup {
  /** Undefined: the group is not linked yet. */
  platformId: string | undefined;
  name: string;
  /** Whether the group exists, the bridge has completed it, and no change of it waits; absent: not known. */
  isComplete?: boolean;
  /** A sentence about the refusal of the group's last sync, after which nothing writes a membership; undefined: there is none. */
  refused?: string | undefined;
  /** A sentence about a waiting change of the group, which the membership waits for; undefined: none, or not known. */
  waiting?: string | undefined;
}

/** A group of the account, with its present name at the platform. */
export interface ActualGroup {
  platformId: string;
  name: string;
}

/** `id`: SCIM id. `account`: account id in the link, which keys attribute values. */
type AccountIds = { id: string; account?: string | undefined };

/** The result of reading an account. */
export interface Reading {
  /** The SCIM user as the platform returned it. */
  user: WireUser;
  /** The account as the report shows it. */
  view: AccountView;
  /** The account's groups. Compare their platform ids, because two groups may take each other's names. */
  groups: ActualGroup[];
  /** Attribute definitions of the tenant. */
  definitions: UserAttribute[];
  /** Sentences about what could not be read. */
  notes: string[];
}

/**
 * Returns the account; undefined if the platform no longer has it.
 * @param wanted groups that are read by id if the account does not list them
 * @throws PlatformError if a call fails
 */
export async function readAccount(
  client: PlatformClient,
  link: AccountIds,
  wanted: readonly ExpectedGroup[],
  call: CallOptions,
): Promise<Reading | undefined> {
  const user = await unlessAbsent(client.users.get(link.id, call));
  if (!user) return undefined;
  if (user.active === undefined)
    throw new PlatformDecode('user without a readable `active`', {
      method: 'GET',
      route: '/api/scim/v2/Users/{id}',
    });
  const [accountId, groups, definitions] = await Promise.all([
    accountIdOf(client, user, call),
    groupsOf(client, user, wanted, call),
    client.attributes.list(call),
  ]);
  const attributes = await attributesOf(client, user, accountId, call);
  const view = {
    scimId: user.id,
    accountId: accountId ?? null,
    userName: user.userName,
    active: user.active,
    groups: [...new Set(groups.map(({ name }) => name))].sort(),
    attributes,
  };
  return { user, view, groups, definitions, notes: notesOf(user, link, accountId) };
}

/** Returns the stored attribute values of an account. Without the account id only the values of the SCIM user are known. */
async function attributesOf(
  { values }: PlatformClient,
  user: WireUser,
  accountId: string | undefined,
  call: CallOptions,
): Promise<Record<string, AttributeValue>> {
  const shown: { name: string; value?: AttributeValue }[] =
    accountId === undefined
      ? Object.entries(user[EXTENSION] ?? {}).map(([name, value]) => ({ name, value }))
      : await values.list(accountId, call);
  // Null means that no value is stored.
  return Object.fromEntries(
    shown.flatMap(({ name, value = null }) => (value === null ? [] : [[name, value] as const])),
  );
}

/** Returns sentences about what could not be read, and about a wrong account id in the link. */
function notesOf(user: WireUser, link: AccountIds, accountId: string | undefined): string[] {
  const notes: string[] = [];
  if (!Array.isArray(user.groups))
    notes.push('the platform does not list memberships of a user: only groups of the bridge were read');
  if (link.account !== undefined && accountId !== undefined && link.account !== accountId)
    notes.push(
      'the bridge has stored the number of another console account for this person: the next reconcile that repairs corrects it',
    );
  if (accountId === undefined)
    notes.push('the platform does not show the account behind this user: lists and booleans were not read');
  return notes;
}

/**
 * Returns the account id of a SCIM user (contract 3.4) by the list of accounts, because a wrong account id in the link would show
 * the values of another person. Undefined: no account matches, or several do.
 */
async function accountIdOf(
  client: PlatformClient,
  user: WireUser,
  call: CallOptions,
): Promise<string | undefined> {
  const listed = (await unlessAbsent(client.accounts.search(user.userName, call))) ?? [];
  const [match, another] = await consoleAccountsOf(client, user, listed, call);
  return another ? undefined : match?.id;
}

/** Returns the user's groups. The platform may omit groups of a user, so the wanted groups are read too. */
async function groupsOf(
  { groups }: PlatformClient,
  user: WireUser,
  wanted: readonly ExpectedGroup[],
  call: CallOptions,
): Promise<ActualGroup[]> {
  const listed = (user.groups ?? []).map(({ value, display }) => ({
    platformId: String(value),
    name: display,
  }));
  const ours = wanted.flatMap(({ platformId }) => platformId ?? []);
  const unlisted = ours.filter((id) => !listed.some((group) => group.platformId === id));
  // The platform may list a group by its id alone.
  const unnamed = listed.flatMap(({ platformId, name }) => (name === undefined ? [platformId] : []));
  const read = await Promise.all(
    [...unlisted, ...unnamed].map((id) => unlessAbsent(groups.get(id, {}, call))),
  );
  const joined = read.flatMap((group) =>
    group?.members?.some(({ value }) => value === user.id)
      ? [{ platformId: group.id, name: group.displayName }]
      : [],
  );
  const named = listed.flatMap(({ platformId, name }) => (name === undefined ? [] : [{ platformId, name }]));
  return [...named, ...joined];
}

/** Returns the result of the call; undefined if the platform answers 404 or lacks the endpoint. */
async function unlessAbsent<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof EndpointAbsent || (error instanceof PlatformResponse && error.status === 404))
      return undefined;
    throw error;
  }
}
