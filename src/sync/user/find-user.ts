// Finds the account of a user without link (`findUser`) and adopts it: stores the id and the values of the account in the link.
// Flow: looks up the accounts with the user's names, and collects who holds each (`toCandidate`). `correlate` decides: no account,
// one to adopt (`adoptAccount`), or a conflict, which may end by itself (`mayConflictPass`); then the sync waits.
// Flags of the link: directory/outbox/link.ts.
import { platformIdOf, forgetListId } from '../../directory/outbox/link.ts';
import { parseRef, type Ref } from '../../directory/records.ts';
import type { Directory } from '../../directory/resources/directory.ts';
import type { WireUser } from '../../platform/wire.ts';
import { resolveAccount } from './console-account.ts';
import { blockedBy, byConnections } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import type { Unfinished } from '../outcome.ts';
import { correlate, type Candidate } from './correlate.ts';
import { echoedAttributes, observedCore } from '../diff.ts';
import { externalIdOf, type DesiredUser } from '../mapping/mapping.ts';
import { claim, takenElsewhere } from '../names/taken-by-connection.ts';
import { isMadeAccount } from '../names/lost-create.ts';
import {
  isExternalIdPending,
  isHandedOn,
  isOutdated,
  keptForLeaver,
  successionWait,
} from '../names/succession.ts';
import { accountsMatching } from './matching-accounts.ts';

/**
 * `linked`: the account or group was adopted or created, and the link has its id. `absent`: the platform has no account or group of
 * this resource.
 */
export type Linking = { kind: 'linked' | 'absent' } | Unfinished;

/** Looks the account up and links it if the settings allow the adoption. Creates none. */
export async function findUser(context: SyncContext, desired: DesiredUser): Promise<Linking> {
  const { target } = context;
  const userName = String(desired.core.userName);
  const externalId = externalIdOf(desired.core);
  const users = await accountsMatching(context, desired.core);
  const ids = users.map(({ id }) => id);
  const taken = await takenElsewhere(context, 'User', ids, desired.core);
  if (taken) return taken;
  const candidates = await Promise.all(users.map((user) => toCandidate(context, user)));
  const verdict = correlate({ userName, externalId }, candidates, target.policy.adopt);
  if (verdict.kind === 'absent') return { kind: 'absent' };
  if (verdict.kind === 'adopt') return adoptAccount(context, desired, verdict);
  const reason = verdict.isNotAdopted ? 'NotAdopted' : 'Conflict';
  const outcome = (await mayConflictPass(context, users))
    ? laterOrConflict(context, verdict.message)
    : blockedBy(context, reason, verdict.message);
  if (outcome.kind !== 'blocked' || !verdict.isForeign) return outcome;
  return { kind: 'blocked', condition: byConnections(context, outcome.condition) };
}

/** Returns the account with the facts that decide about its adoption. */
async function toCandidate(context: SyncContext, user: WireUser): Promise<Candidate> {
  const holder = await context.links.holderOf(context.target.name, 'User', user.id);
  if (holder === undefined || holder === context.work.ref) {
    const isMade = await isMadeAccount(context, user);
    return { user, ours: holder !== undefined || isMade, isMade };
  }
  const isInUse = await existsIn(context.directory)(holder);
  return { user, ours: !isInUse, heldBy: isInUse ? holder : undefined };
}

/**
 * Returns whether a conflict may end by itself: a resource that is linked to one of the accounts may still give it up, another user
 * with the same externalId has a pending sync, or the list shows an old name.
 */
async function mayConflictPass(context: SyncContext, users: readonly WireUser[]): Promise<boolean> {
  for (const user of users) {
    const shown = { id: user.id, name: user.userName };
    if (
      (await isHandedOn(context, 'User', user.id)) ||
      (await isOutdated(context, 'User', shown)) ||
      (await isExternalIdPending(context, user, context.work.ref))
    )
      return true;
  }
  return false;
}

/** Returns when to look again; after the last attempt, the conflict with this message. @param status of a refusal */
export function laterOrConflict(context: SyncContext, message: string, status?: number): Linking {
  const afterMs = successionWait(context);
  if (afterMs !== undefined) return { kind: 'later', afterMs };
  return blockedBy(context, 'Conflict', message, status);
}

/**
 * Links the account, unless it is still that of a leaver or of another connection.
 * @param isMade an earlier create of this user, whose answer was lost, made the account
 */
async function adoptAccount(
  context: SyncContext,
  desired: DesiredUser,
  { user, isMade }: { user: WireUser; isMade: boolean },
): Promise<Linking> {
  const { target, link } = context;
  const holder = await context.links.holderOf(target.name, 'User', user.id);
  const leaver = holder === context.work.ref ? undefined : holder;
  if (leaver !== undefined) {
    const isClosing = await isHandedOn(context, 'User', user.id);
    if (isClosing) return laterOrConflict(context, notClosedText(leaver));
    const externalId = externalIdOf(desired.core);
    const isRehired = externalId !== null && user.externalId === externalId;
    const whyKept = isRehired ? undefined : await keptForLeaver(context, leaver);
    if (whyKept !== undefined) return blockedBy(context, 'Conflict', whyKept);
  }
  // The sync of the leaver may have closed the account since the look-up, so it is read again.
  const present = leaver === undefined ? user : await target.client.users.get(user.id, context.call);
  // The id is stored after the values: a link with an id means that all values were observed.
  await observe(context, desired, present);
  const notOurs = await claim(context, user.id, { isNew: false, core: desired.core });
  if (notOurs) return notOurs;
  link.id = user.id;
  link.origin = isMade ? 'created' : 'adopted';
  if (isMade) link.isIncomplete = true;
  delete link.tried;
  context.logger.info({ ref: context.work.ref, origin: link.origin }, 'account adopted');
  await context.save({ linked: true, rewriteMemberships: true, takenFrom: leaver });
  return { kind: 'linked' };
}

/** Returns why another user does not get the account of a leaver, whose closing or removals from groups are not done. */
const notClosedText = (leaver: Ref): string =>
  `the account is still that of a person who left, ${leaver}, and a change of it (its closing, a removal from a group, or its deletion) is not done yet: scim-bridge explain ${leaver} tells why`;

/**
 * Reads the values of an account into its link, which a repair restored with the id only.
 * @throws PlatformError, also a 404
 */
export async function observeLinked(context: SyncContext, desired: DesiredUser): Promise<void> {
  const { link, target, call } = context;
  await observe(context, desired, await target.client.users.get(platformIdOf(link), call));
  await context.save();
}

/** Stores the values of the account as applied in the link; a value that the platform does not return counts as unsure. */
async function observe(context: SyncContext, desired: DesiredUser, user: WireUser): Promise<void> {
  const { link } = context;
  forgetListId(link);
  context.shownAccount = { user };
  delete link.unsure;
  delete link.emptied;
  link.core = observedCore(user, desired.core);
  const attributes = await observedAttributes(context, desired, user);
  const unseen = Object.keys(desired.attributes).filter((name) => !(name in attributes));
  if (unseen.length > 0) link.unsure = unseen.map((name) => `attributes.${name}`);
  link.attributes = attributes;
}

/**
 * Returns the current attribute values of an account: from the extension, which has texts and numbers only, else from the value
 * list. A missing name was not read; null means unset.
 */
async function observedAttributes(
  context: SyncContext,
  desired: DesiredUser,
  user: WireUser,
): Promise<Record<string, unknown>> {
  const echoed = echoedAttributes(user, desired.attributes);
  if (Object.keys(desired.attributes).every((name) => name in echoed)) return echoed;
  const account = await resolveAccount(context);
  // Without the account id the value list cannot be read.
  if (account.kind !== 'found') return echoed;
  const values = await context.target.client.values.list(account.id, context.call);
  const unset = Object.fromEntries(Object.keys(desired.attributes).map((name) => [name, null]));
  return {
    ...unset,
    ...echoed,
    ...Object.fromEntries(values.map(({ name, value }) => [name, value ?? null])),
  };
}

/** Returns a function that tells whether a resource of the directory still exists: a link may outlive its resource. */
export const existsIn =
  (directory: Pick<Directory, 'get'>) =>
  async (ref: Ref): Promise<boolean> => {
    const { kind, id } = parseRef(ref);
    return (await directory.get(kind, id)) !== undefined;
  };
