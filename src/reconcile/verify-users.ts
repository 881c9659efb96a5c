// Verifies suspects: each user in question is read alone, against a link that was read before, so that a write in between
// cannot pass for drift.
import { hashOfLink, type ObservedResource } from '../directory/outbox/drift.ts';
import { parseLink, type Condition, type Link } from '../directory/outbox/links.ts';
import { fold, parseRef, type Ref } from '../directory/records.ts';
import type { WireUser } from '../platform/wire.ts';
import type { Resource } from '../scim/index.ts';
import { mapBounded } from '../support/bounded.ts';
import { isGone } from '../sync/failures.ts';
import { desiredFromRecord, type DesiredAccount } from './compare.ts';
import { isProtected, refusalOf, type PlanEntry } from './entry.ts';
import type { ScanResult } from './scope.ts';
import { userEntries, type UserCase } from './plan-users.ts';

/** Findings about one resource, with the facts that attribution needs. */
export interface VerifiedUsers {
  ref: Ref;
  entries: PlanEntry[];
  /** When the platform says that it was changed last; ISO 8601. */
  changedAt?: string | undefined;
  /** When we last wrote there; Unix milliseconds. */
  writtenAt?: number | undefined;
  /** Why its last sync gave up, where nothing was marked since. */
  refusal?: Condition | undefined;
}

/** Accounts without a link, by what a user could be recognised by; absent where the list was not read whole. */
export interface Strangers {
  byName: ReadonlyMap<string, { id: string; userName: string }>;
  byExternalId: ReadonlyMap<string, { id: string; userName: string }>;
}

export interface VerifyUsersOptions {
  /** Users whose attribute values are to be read, at one call each. */
  withValues: (ref: Ref) => boolean;
  strangers?: Strangers | undefined;
}

const BATCH = 100;

/** Looks at each ref alone. One that cannot be read, or that moved meanwhile, is left out: an unknown is never an absence. */
export async function verifyUsers(
  survey: ScanResult,
  refs: Ref[],
  options: VerifyUsersOptions,
): Promise<VerifiedUsers[]> {
  const examined: VerifiedUsers[] = [];
  for (let start = 0; start < refs.length; start += BATCH) {
    survey.onProgress({ phase: 'second look', done: start, total: refs.length });
    const standing = await survey.estate.drifts.standing(refs.slice(start, start + BATCH));
    const wanted = await usersToVerify(survey, standing);
    const found = await mapBounded(standing, survey.estate.concurrency, (each) =>
      examine(survey, each, wanted.get(each.ref), options),
    );
    const now = await survey.estate.drifts.standing(standing.map(({ ref }) => ref));
    found.forEach((each, index) => {
      if (each && isUnmoved(standing[index], now[index])) examined.push(each);
      else survey.tally[each ? 'moved' : 'unknown']++;
    });
  }
  return examined;
}

/** Whether a resource stood still while the platform was read: else the difference may be our own write. */
export const isUnmoved = (
  before: ObservedResource | undefined,
  after: ObservedResource | undefined,
): boolean => before?.text === after?.text && before?.marked === after?.marked;

export interface UserToVerify {
  version: number;
  wanted: DesiredAccount;
  /** Attributes whose value cannot be computed. */
  faults: string[];
}

/** The desired state of some refs; refs without a record are left out. */
export async function usersToVerify(
  survey: ScanResult,
  standing: ObservedResource[],
): Promise<Map<Ref, UserToVerify>> {
  const { directory, target } = survey.estate;
  const wanted = new Map<Ref, UserToVerify>();
  for await (const users of directory.usersIn(standing.map(({ ref }) => parseRef(ref).id))) {
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

/** @returns undefined when the platform could not tell */
async function examine(
  survey: ScanResult,
  { ref, text, marked }: ObservedResource,
  wanted: UserToVerify | undefined,
  { withValues, strangers }: VerifyUsersOptions,
): Promise<VerifiedUsers | undefined> {
  const link = parseLink(text);
  const basis = { version: wanted?.version ?? 0, link: hashOfLink(text) };
  const common = { ref, link, basis, marked, wanted: wanted?.wanted };
  if (!wanted && !link.departed && !(await survey.estate.drifts.deletedAtSource(parseRef(ref).id))) {
    const reason = 'linked, but its desired state is missing in Redis; push it again';
    return { ref, entries: [conflict(common, reason)] };
  }
  if (isProtected(link)) return { ref, entries: [] };
  const observed = await read(survey, link);
  if (observed === 'unknown') return undefined;
  const present = observed === 'absent' ? undefined : observed;
  const namesake = present || !wanted ? undefined : await findNamesake(survey, wanted.wanted, strangers);
  if (namesake === 'unknown') return undefined;
  const values = present && withValues(ref) ? await readValues(survey, link) : undefined;
  if (values === 'unknown') return undefined;
  const user: UserCase = { ...common, observed: present, namesake, values };
  return {
    ref,
    entries: [...userEntries(user, rulesOf(survey)), ...faultEntries(common, wanted)],
    changedAt: present?.meta?.lastModified,
    writtenAt: link.writtenAt,
    refusal: refusalOf(link, marked),
  };
}

export const rulesOf = ({ estate: { target }, visibility }: ScanResult) => ({
  policy: target.policy,
  types: target.mapping.types,
  visibility,
});

type Standing = Pick<UserCase, 'ref' | 'link' | 'basis'>;

/** Values that the mapping cannot make: the user gains nothing until that is corrected. */
export const faultEntries = (user: Standing, wanted: UserToVerify | undefined): PlanEntry[] =>
  wanted?.wanted.inScope && wanted.faults.length > 0
    ? [conflict(user, `attribute ${wanted.faults.join('; ')}`)]
    : [];

/** Nothing may follow from this before a person has looked. */
export const conflict = ({ ref, link, basis }: Standing, reason: string): PlanEntry => ({
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

async function read(survey: ScanResult, link: Link): Promise<WireUser | 'absent' | 'unknown'> {
  if (link.id === undefined) return 'absent';
  return asking(survey, (signal) => survey.estate.target.client.users.get(link.id ?? '', { signal }));
}

/** Only a 404 says that something is not there. */
export async function asking<T>(
  survey: ScanResult,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T | 'absent' | 'unknown'> {
  survey.tally.calls++;
  try {
    return await call(survey.signal);
  } catch (error) {
    survey.signal.throwIfAborted();
    return isGone(error) ? 'absent' : 'unknown';
  }
}

type Namesake = { id: string; userName: string };

/** An account that nobody of ours is linked to and that carries the externalId or name. */
async function findNamesake(
  survey: ScanResult,
  { core }: DesiredAccount,
  strangers: Strangers | undefined,
): Promise<Namesake | undefined | 'unknown'> {
  const userName = String(core.userName);
  if (strangers) {
    const known = core.externalId == null ? undefined : strangers.byExternalId.get(String(core.externalId));
    const isKnown = known && (await survey.estate.directory.identifies(String(core.externalId)));
    return isKnown ? known : strangers.byName.get(fold(userName));
  }
  const found = await asking(survey, (signal) =>
    survey.estate.target.client.users.findBy('userName', userName, { signal }),
  );
  if (found === 'unknown' || found === 'absent') return 'unknown';
  const exact = found.filter((user) => fold(user.userName) === fold(userName));
  const holders = await survey.estate.drifts.counterparts(
    'User',
    exact.map(({ id }) => id),
  );
  return exact.find((_, index) => holders[index] === undefined);
}

/** The value list; undefined where the account is not known or the tenant has no such list. */
export async function readValues(
  survey: ScanResult,
  { account }: Link,
): Promise<ReadonlyMap<string, unknown> | undefined | 'unknown'> {
  if (account === undefined) return undefined;
  const found = await asking(survey, (signal) =>
    survey.estate.target.client.values.list(account, { signal }),
  );
  if (found === 'unknown') return found;
  return found === 'absent'
    ? undefined
    : new Map(found.map(({ name, value }) => [name, (value ?? null) as unknown]));
}
