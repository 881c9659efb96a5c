// Recognises the account or group that a create made whose answer was lost, and tells it from those that others made. `sendCreate`
// notes each create in the link (`tried`), by which a later sync recognises the result (`isMadeAccount`, `isMadeGroup`).
// Flags of the link: directory/outbox/link.ts.
import type { Link, TriedCreate } from '../../directory/outbox/link.ts';
import { fold, parseRef } from '../../directory/records.ts';
import type { Directory } from '../../directory/resources/directory.ts';
import type { WireGroup, WireUser } from '../../platform/wire.ts';
import { mayHaveCommitted } from '../calls/failures.ts';
import type { SyncContext } from '../context.ts';
import { observedCore } from '../diff.ts';
import type { Core } from '../mapping/mapping.ts';

/** Assumed time within which a SCIM look-up shows a new account or group; trap 17 of contract 12.9 gives no number. */
const SHOWN_WITHIN_MS = 20_000;
/** Interval of look-ups for a new account or group until it is shown. */
const LOOK_AGAIN_MS = 2000;
/** Assumed longest time of a create whose process was killed: twice the usual `timeoutMs`, as the call may have waited. */
const LONGEST_ANSWER_MS = 30_000;
/** The clocks of the bridge and of the platform may differ by this much. */
const CLOCKS_DIFFER_MS = 5000;

const nameOf = ({ userName, displayName }: Core): string => fold(String(userName ?? displayName));

/**
 * Sends a create, and notes it in the link until the caller has stored the answer and deletes the note (`tried`). After an error
 * the note stays if the create may have taken effect. The caller has looked the name up before, and found nothing.
 * @param core the values that are sent, by platform path
 * @throws the error of `send`
 */
export async function sendCreate<T>(context: SyncContext, core: Core, send: () => Promise<T>): Promise<T> {
  const { clock, link } = context;
  const former = link.tried;
  const now = clock.now();
  const tried: TriedCreate = { core, since: now, until: now + LONGEST_ANSWER_MS };
  // The former create of this name may have made the account or group, so `since` goes back to it. It need not go back further than
  // SHOWN_WITHIN_MS: the look-up before this create would have shown anything older.
  if (former && nameOf(former.core) === nameOf(core) && now < former.until + SHOWN_WITHIN_MS)
    tried.since = Math.max(former.since, now - SHOWN_WITHIN_MS);
  link.tried = tried;
  await context.save();
  try {
    return await send();
  } catch (error) {
    if (mayHaveCommitted(error)) tried.until = clock.now();
    else if (former) link.tried = former;
    else delete link.tried;
    throw error;
  }
}

/**
 * Returns when to look again, if a create made an account or group that the platform may not show yet; undefined: there is none, or
 * it would be shown by now.
 * @param core values of the next create: one with the same name need not wait, because the platform answers 409 to it
 */
export function untilShown(
  { clock, link: { tried } }: SyncContext,
  core?: Core,
): { kind: 'later'; afterMs: number } | undefined {
  if (!tried || (core && nameOf(core) === nameOf(tried.core))) return undefined;
  const leftMs = tried.until + SHOWN_WITHIN_MS - clock.now();
  return leftMs > 0 ? { kind: 'later', afterMs: Math.min(leftMs, LOOK_AGAIN_MS) } : undefined;
}

/**
 * Returns whether a create of this user whose answer was lost has made the account. Proofs: the sent externalId, if it identifies
 * one user; else the time of the create together with all sent values.
 */
export async function isMadeAccount(
  { directory, link: { tried } }: { directory: Pick<Directory, 'identifies'>; link: Link },
  user: WireUser,
): Promise<boolean> {
  if (!tried || (user.externalId || null) !== (tried.core.externalId || null)) return false;
  if (user.externalId && (await directory.identifies(user.externalId))) return true;
  const shown = observedCore(user, tried.core);
  const isShown = ([path, value]: [string, unknown]): boolean =>
    (value ?? '') === '' ||
    (path === 'userName' ? nameOf(shown) === nameOf(tried.core) : shown[path] === value);
  return isOfTime(tried, user) && Object.entries(tried.core).every(isShown);
}

/**
 * Returns whether a create of this group whose answer was lost has made the platform group. Proof: the time of the create together
 * with the sent name and no members, as the bridge makes groups.
 * @throws PlatformError
 */
export async function isMadeGroup(
  { call, link: { tried }, target }: Pick<SyncContext, 'call' | 'link' | 'target'>,
  group: WireGroup,
): Promise<boolean> {
  if (!tried || group.displayName !== tried.core.displayName || !isOfTime(tried, group)) return false;
  const { members = [] } = await target.client.groups.get(group.id, {}, call);
  return members.length === 0;
}

/**
 * Returns whether the account or group may have been made while the create was under way, also if the platform does not show when.
 */
export const mayBeOfTime = (tried: TriedCreate, shown: Pick<WireUser, 'meta'>): boolean =>
  Number.isNaN(Date.parse(shown.meta?.created ?? '')) || isOfTime(tried, shown);

/** Returns whether the account or group was made while the create was under way. False if the platform does not show when. */
function isOfTime(tried: TriedCreate, { meta }: Pick<WireUser, 'meta'>): boolean {
  const madeAt = Date.parse(meta?.created ?? '');
  return madeAt >= tried.since - CLOCKS_DIFFER_MS && madeAt <= tried.until + CLOCKS_DIFFER_MS;
}

/**
 * Returns the accounts or groups with the present name. If there are none, or each is linked to another existing resource, returns
 * those that an earlier create of this resource made under another name, and that no other resource is linked to. The sync adopts
 * one, and renames it when the present name is free; otherwise the former name would stay taken.
 * @param exact those with the present name
 * @param findMade finds those that the earlier create made
 */
export async function preferMade<T extends { id: string }>(
  { directory, links, target, work }: SyncContext,
  exact: T[],
  findMade: () => Promise<T[]>,
): Promise<T[]> {
  /** Returns for each account or group the other resource that is linked to it; undefined: there is none. */
  const othersOf = async (found: T[]) => {
    const holders = await Promise.all(found.map(({ id }) => links.holderOf(target.name, work.kind, id)));
    return holders.map((holder) => (holder === work.ref ? undefined : holder));
  };
  for (const other of await othersOf(exact)) {
    if (other === undefined) return exact;
    const { kind, id } = parseRef(other);
    if ((await directory.get(kind, id)) === undefined) return exact;
  }
  const found = await findMade();
  const others = await othersOf(found);
  const made = found.filter((_, index) => others[index] === undefined);
  return made.length > 0 ? made : exact;
}
