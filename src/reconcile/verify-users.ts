// Verifies suspected drift of users one by one. The link is read before the account, so that a write in between is not
// taken for drift.
import { hashOfLink, type ObservedResource } from '../directory/outbox/drift.ts';
import { parseLink, type Condition, type Link } from '../directory/outbox/links.ts';
import { fold, parseRef, type Ref } from '../directory/records.ts';
import type { WireUser } from '../platform/wire.ts';
import type { Resource } from '../scim/index.ts';
import { mapBounded } from '../support/bounded.ts';
import { exactAccounts } from '../sync/attributes.ts';
import { correlate } from '../sync/correlate.ts';
import { existsIn, mayBeCreatedByThis } from '../sync/find-user.ts';
import { echoedAttributes, isEmpty } from '../sync/diff.ts';
import { isGone } from '../sync/failures.ts';
import type { DesiredUser } from '../sync/mapping.ts';
import { desiredFromRecord, type DesiredAccount } from './compare.ts';
import { awaitsDecision, doneOfUser, type DoneChanges } from './done-changes.ts';
import { isProtected, refusalOf, type PlanEntry } from './entry.ts';
import { lookAgain, toLook, type Look } from './look-again.ts';
import type { ScanResult } from './scope.ts';
import { noTaken, takenElsewhereText, type TakenIds } from './taken.ts';
import { userEntries, type AdoptableAccount, type UserCase } from './plan-users.ts';

/** A group of the platform, with its name there. */
export interface GroupOfAccount {
  id: string;
  name: string;
}

/** Findings about one resource, with the facts that attribution needs. */
export interface VerifiedUsers {
  ref: Ref;
  entries: PlanEntry[];
  /** Version of the record that was compared; 0: there is none. Undefined: nothing was compared. */
  version?: number;
  /** Time of the last change at the platform, ISO 8601. */
  changedAt?: string | undefined;
  /** Time of the bridge's last write, Unix milliseconds. */
  writtenAt?: number | undefined;
  /** Refusal of the last sync, if no mark is pending. */
  refusal?: Condition | undefined;
  /** Groups of the user's account, or of the account that is to be adopted. */
  memberOf?: readonly GroupOfAccount[] | undefined;
  /** The user comes back into scope, so its sync writes all memberships again. */
  isReturning?: boolean;
  /** Platform id of a group that the settings leave out since its last sync; only the next sync notes that it is left. */
  leftOut?: string;
  /** Held or rejected changes that the platform has already. */
  done?: DoneChanges | undefined;
  /** Platform ids of unmanaged members whose removal from the group is pending, held or rejected; they have no entry. */
  unmanagedLeavers?: ReadonlySet<string>;
  /** Whether the member list of the group was read. */
  isMembersRead?: boolean;
  /** The mapping of an attribute fails; only the next sync notes that. */
  isUnmappable?: boolean;
  /** Why the sync will refuse to adopt the account that it finds. */
  notAdopted?: string | undefined;
  /** The group comes back into scope; only its next sync notes that, also when nothing of it is to be written. */
  isBack?: boolean;
}

/** Unmanaged accounts of a complete list, by folded userName and by externalId. */
export interface Strangers {
  byName: ReadonlyMap<string, { id: string; userName: string }>;
  byExternalId: ReadonlyMap<string, { id: string; userName: string }>;
  /** Accounts of other connections. */
  taken: TakenIds;
}

export interface VerifyUsersOptions {
  /** Returns whether the value list of a user is read, which costs one call. */
  withValues: (ref: Ref) => boolean;
  /** Undefined: the list was not read completely, so a namesake is looked up by a call. */
  strangers?: Strangers | undefined;
}

/** Number of users whose records and links are read at once. */
const BATCH = 100;

/** Reads each user alone. A user that cannot be read, or changes at each read, is left out and never counts as absent. */
export const verifyUsers = (
  scan: ScanResult,
  refs: Ref[],
  options: VerifyUsersOptions,
): Promise<VerifiedUsers[]> => lookAgain(scan, refs, (left) => lookAtUsers(scan, left, options));

/**
 * Reads the links of each portion before and after its accounts, and sorts the findings by whether a user changed meanwhile.
 */
async function lookAtUsers(
  scan: ScanResult,
  refs: Ref[],
  options: VerifyUsersOptions,
): Promise<Look<VerifiedUsers>> {
  const { drifts, concurrency } = scan.scope;
  const looks: Look<VerifiedUsers>[] = [];
  for (let start = 0; start < refs.length; start += BATCH) {
    scan.onProgress({ phase: 'second look', done: start, total: refs.length });
    const before = await drifts.observe(refs.slice(start, start + BATCH));
    const wanted = await usersToVerify(scan, before);
    const found = await mapBounded(before, concurrency, (each) =>
      verifyUser(scan, each, wanted.get(each.ref), options),
    );
    looks.push(toLook(scan, found, before, await drifts.observe(before.map(({ ref }) => ref))));
  }
  return {
    verified: looks.flatMap(({ verified }) => verified),
    moved: looks.flatMap(({ moved }) => moved),
  };
}

export interface UserToVerify {
  version: number;
  wanted: DesiredAccount;
  /** Attributes whose mapping failed. */
  faults: string[];
}

/** Returns the desired state of the refs that have a record. */
export async function usersToVerify(
  scan: ScanResult,
  observed: ObservedResource[],
): Promise<Map<Ref, UserToVerify>> {
  const { directory, target } = scan.scope;
  const wanted = new Map<Ref, UserToVerify>();
  for await (const users of directory.usersIn(observed.map(({ ref }) => parseRef(ref).id))) {
    for (const { record, groups } of users) {
      if (record.damaged) continue;
      const desired = await target.mapping.user(JSON.parse(record.text) as Resource, record.id, groups);
      wanted.set(`User:${record.id}`, {
        version: record.version,
        wanted: desiredFromRecord(desired),
        faults: desired.faults.map(({ attribute, reason }) => `${attribute} ${reason}`),
      });
    }
  }
  return wanted;
}

/** Verifies one user. @returns undefined when the platform could not be read */
async function verifyUser(
  scan: ScanResult,
  { ref, text, marked }: ObservedResource,
  wanted: UserToVerify | undefined,
  { withValues, strangers }: VerifyUsersOptions,
): Promise<VerifiedUsers | undefined> {
  const link = parseLink(text);
  const basis = { version: wanted?.version ?? 0, link: hashOfLink(text) };
  const common = { ref, link, basis, marked, wanted: wanted?.wanted };
  // A resource without record is either deleted at the source, which a tombstone proves, or its record was lost.
  if (!wanted && !link.departed && !(await scan.scope.drifts.deletedAtSource(parseRef(ref).id))) {
    const reason = 'linked, but its desired state is missing in Redis; push it again';
    return { ref, entries: [conflict(common, reason)] };
  }
  const { protected: listed } = scan.scope.target.policy.users;
  const desiredName = wanted?.wanted.core.userName;
  if (isProtected(link, listed, desiredName ? String(desiredName) : undefined)) return { ref, entries: [] };
  const observed = await readUser(scan, link);
  if (observed === 'unknown') return undefined;
  const present = observed === 'absent' ? undefined : observed;
  const namesake = present || !wanted ? undefined : await findNamesake(scan, wanted.wanted, strangers);
  if (namesake === 'unknown') return undefined;
  const isEmptied = present && mayBeEmptied(link, wanted);
  const isRead = present && (isEmptied || withValues(ref));
  const values = isRead
    ? await readValues(scan, { account: await accountOf(scan, link, present) })
    : undefined;
  if (values === 'unknown') return undefined;
  // Of a user without account: the account that its sync would find, which another connection may be linked to.
  const candidate =
    namesake?.id ?? (present || !wanted ? undefined : await takenId(scan, wanted.wanted, strangers));
  const takenBy = await takenElsewhereText(scan, 'User', candidate);
  const mayAdopt = namesake && wanted && takenBy === undefined && scan.scope.target.policy.adopt === 'exact';
  const adoptable = mayAdopt ? await readAdoptable(scan, namesake.id, wanted.wanted) : undefined;
  if (adoptable === 'unknown') return undefined;
  const user: UserCase = {
    ...{ ...common, observed: present, namesake, takenBy, adoptable, values },
    isUnmappable: isUnmappable(wanted),
  };
  return {
    ref,
    entries: [...userEntries(user, rulesOf(scan)), ...faultEntries(common, wanted)],
    version: basis.version,
    changedAt: present?.meta?.lastModified,
    writtenAt: link.writtenAt,
    refusal: refusalOf(link, marked),
    memberOf: groupsOfAccount(present ?? adoptable?.account),
    isReturning: isReturning(link, wanted),
    done: doneOfUser(user),
    isUnmappable: isUnmappable(wanted),
    notAdopted: adoptable && (await whyNotAdopted(scan, common, adoptable.account)),
  };
}

/** Returns the id of the account in the list of values, which a link does not know before the first value was written there. */
export async function accountOf(
  scan: ScanResult,
  { account }: Link,
  { userName, externalId }: { userName: string; externalId?: unknown },
): Promise<string | undefined> {
  if (account !== undefined) return account;
  const found = await asking(scan, (signal) =>
    scan.scope.target.client.accounts.search(userName, { signal }),
  );
  if (found === 'unknown' || found === 'absent') return undefined;
  const [match, another] = exactAccounts(found, userName, externalId);
  return another ? undefined : match?.id;
}

/** Returns whether the emptying of a value waits for a decision, so that a person may have emptied it at the platform. */
const mayBeEmptied = (link: Link, user: UserToVerify | undefined): boolean =>
  awaitsDecision(link) &&
  Object.entries(user?.wanted.attributes ?? {}).some(
    ([name, value]) => isEmpty(value) && !isEmpty(link.attributes?.[name]),
  );

/** Returns the groups that the platform names for an account; undefined without an account. */
export const groupsOfAccount = (account: WireUser | undefined): GroupOfAccount[] | undefined =>
  account &&
  (account.groups ?? []).map(({ value, display }) => ({ id: String(value), name: display ?? String(value) }));

/** Returns whether a departed user is in scope again. */
export const isReturning = ({ departed }: Link, user: UserToVerify | undefined): boolean =>
  departed === true && user?.wanted.inScope === true;

/** Reads an account with its attribute values as the sync does before it adopts one. */
async function readAdoptable(
  scan: ScanResult,
  id: string,
  { attributes }: DesiredAccount,
): Promise<AdoptableAccount | 'unknown'> {
  const { client } = scan.scope.target;
  const account = await asking(scan, (signal) => client.users.get(id, { signal }));
  if (account === 'absent' || account === 'unknown') return 'unknown';
  const echoed = echoedAttributes(account, attributes as DesiredUser['attributes']);
  if (Object.keys(attributes).every((name) => name in echoed)) return { account, values: echoed };
  const found = await asking(scan, (signal) => client.accounts.search(account.userName, { signal }));
  if (found === 'unknown') return 'unknown';
  const named = found === 'absent' ? [] : exactAccounts(found, account.userName, account.externalId);
  const [match] = named;
  if (!match || named.length > 1) return { account, values: echoed };
  const values = await readValues(scan, { account: match.id });
  if (values === 'unknown') return 'unknown';
  return { account, values: { ...echoed, ...Object.fromEntries(values ?? []) } };
}

/** Returns why the sync will not adopt the account, judged as the sync does (find-user.ts); undefined: it will. */
async function whyNotAdopted(
  { scope: { directory, links, target } }: ScanResult,
  { ref, link, wanted }: Pick<UserCase, 'ref' | 'link' | 'wanted'>,
  account: WireUser,
): Promise<string | undefined> {
  const holder = await links.holderOf(target.name, 'User', account.id);
  const isHeld = holder !== undefined && holder !== ref && (await existsIn(directory)(holder));
  const ours = holder === undefined ? mayBeCreatedByThis({ link }, account) : !isHeld;
  const externalId = wanted?.core.externalId == null ? null : String(wanted.core.externalId);
  const found = { userName: String(wanted?.core.userName), externalId };
  const verdict = correlate(found, [{ user: account, ours }], target.policy.adopt);
  return verdict.kind === 'conflict' ? verdict.message : undefined;
}

/** Returns the rules of the target for `userEntries`. */
export const rulesOf = ({ scope: { target }, visibility }: ScanResult) => ({
  policy: target.policy,
  types: target.mapping.types,
  visibility,
});

/** Returns whether the mapping of an attribute fails. */
export const isUnmappable = (user: UserToVerify | undefined): user is UserToVerify =>
  user !== undefined && user.wanted.inScope && user.faults.length > 0;

/** Returns conflict entries for attributes whose mapping fails. */
export const faultEntries = (user: ConflictCase, wanted: UserToVerify | undefined): PlanEntry[] =>
  isUnmappable(wanted) ? [conflict(user, `attribute ${wanted.faults.join('; ')}`)] : [];

type ConflictCase = Pick<UserCase, 'ref' | 'link' | 'basis'>;

/** Returns a conflict entry, which needs an operator. */
export const conflict = ({ ref, link, basis }: ConflictCase, reason: string): PlanEntry => ({
  action: 'conflict',
  kind: 'User',
  ref,
  platformId: link.id ?? null,
  name: String(link.core?.userName ?? ''),
  before: null,
  after: null,
  effect: 'report',
  reason,
  attribution: { cause: 'none' },
  basis,
});

/** Reads a linked account; `absent` without a link or after a 404. */
async function readUser(scan: ScanResult, link: Link): Promise<WireUser | 'absent' | 'unknown'> {
  if (link.id === undefined) return 'absent';
  return asking(scan, (signal) => scan.scope.target.client.users.get(link.id ?? '', { signal }));
}

/**
 * Runs a read of the platform and counts it as a call.
 * @returns `absent` for a 404, `unknown` for any other error
 * @throws the reason of an abort
 */
export async function asking<T>(
  scan: ScanResult,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T | 'absent' | 'unknown'> {
  scan.counts.calls++;
  try {
    return await call(scan.signal);
  } catch (error) {
    scan.signal.throwIfAborted();
    return isGone(error) ? 'absent' : 'unknown';
  }
}

type Namesake = { id: string; userName: string };

/** Returns the id of an account of another connection with the externalId or userName of the user. */
async function takenId(
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
async function findNamesake(
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
  const exact = found.filter((user) => fold(user.userName) === fold(userName));
  const holders = await scan.scope.drifts.linkedTo(
    'User',
    exact.map(({ id }) => id),
  );
  return exact.find((_, index) => holders[index] === undefined);
}

/** Returns the value list of an account; undefined when the account is unknown or the tenant has no such list. */
export async function readValues(
  scan: ScanResult,
  { account }: { account?: string | undefined },
): Promise<ReadonlyMap<string, unknown> | undefined | 'unknown'> {
  if (account === undefined) return undefined;
  const found = await asking(scan, (signal) => scan.scope.target.client.values.list(account, { signal }));
  if (found === 'unknown') return found;
  return found === 'absent'
    ? undefined
    : new Map(found.map(({ name, value }) => [name, (value ?? null) as unknown]));
}
