// Finds, adopts or creates the account of a user without link.
import { platformIdOf, type Link } from '../../directory/outbox/links.ts';
import { fold, parseRef, type Ref } from '../../directory/records.ts';
import type { Directory } from '../../directory/resources/directory.ts';
import type { WireUser } from '../../platform/wire.ts';
import { resolveAccount } from './console-account.ts';
import { condition } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import { correlate, type Candidate } from './correlate.ts';
import { attributeChanges, createBody, echoedAttributes, observedCore } from '../diff.ts';
import { isStatus } from '../calls/failures.ts';
import type { Core, DesiredUser } from '../mapping/mapping.ts';
import { claim, takenElsewhere, type NotOurs } from '../names/taken-by-connection.ts';
import { isMadeAccount, preferMade, sendCreate, untilShown } from '../names/lost-create.ts';
import {
  isExternalIdPending,
  isHandedOn,
  isOutdated,
  keptForLeaver,
  successionWait,
} from '../names/succession.ts';

/** `linked`: the account was adopted or created, and the link has its id. `absent`: the platform has no account of this user. */
export type FoundAccount = { kind: 'linked' | 'absent' } | NotOurs;

/** Returns a function that tells whether a resource of the directory still exists: a link may outlive its resource. */
export const existsIn =
  (directory: Pick<Directory, 'get'>) =>
  async (ref: Ref): Promise<boolean> => {
    const { kind, id } = parseRef(ref);
    return (await directory.get(kind, id)) !== undefined;
  };

/** Returns why another user does not get the account of a leaver, whose closing or removals from groups are not done. */
const notClosedText = (leaver: Ref): string =>
  `the account is still that of a person who left, ${leaver}, and a change of it (its closing, a removal from a group, or its deletion) is not done yet: scim-bridge explain ${leaver} tells why`;

const externalIdOf = ({ externalId }: Core): string | null =>
  externalId === null ? null : String(externalId);

/** Looks the account up and links it if the settings allow the adoption. Never creates one. */
export async function findUser(context: SyncContext, desired: DesiredUser): Promise<FoundAccount> {
  const { target, link } = context;
  const userName = String(desired.core.userName);
  const externalId = externalIdOf(desired.core);
  const users = await accountsMatching(context, desired.core);
  const ids = users.map(({ id }) => id);
  const taken = await takenElsewhere(context, 'User', ids, desired.core);
  if (taken) return taken;
  const candidates = await Promise.all(users.map((user) => toCandidate(context, user)));
  const verdict = correlate({ userName, externalId }, candidates, target.policy.adopt);
  switch (verdict.kind) {
    case 'absent':
      return { kind: 'absent' };
    case 'conflict':
      // The conflict may pass: a sync is pending of the resource that is linked to the account and may give up the name, or of
      // another user with the same externalId; or the list shows an old name of the account.
      for (const { user } of candidates) {
        const shown = { id: user.id, name: user.userName };
        const isPassing =
          (await isHandedOn(context, 'User', user.id)) ||
          (await isOutdated(context, 'User', shown)) ||
          (await isExternalIdPending(context, user, context.work.ref));
        if (isPassing) return laterOrConflict(context, verdict.message);
      }
      return {
        kind: 'blocked',
        condition: condition(context, verdict.isNotAdopted ? 'NotAdopted' : 'Conflict', verdict.message),
      };
    case 'adopt': {
      const { user, isMade } = verdict;
      const former = await context.links.holderOf(target.name, 'User', user.id);
      const isTakenOver = former !== undefined && former !== context.work.ref;
      // The account was that of a leaver (`former`), whose sync may still be closing it.
      if (isTakenOver && (await isHandedOn(context, 'User', user.id)))
        return laterOrConflict(context, notClosedText(former));
      const isRehired = externalId !== null && user.externalId === externalId;
      const whyKept = isTakenOver && !isRehired ? await keptForLeaver(context, former) : undefined;
      if (whyKept !== undefined)
        return { kind: 'blocked', condition: condition(context, 'Conflict', whyKept) };
      // The sync of the leaver may have closed the account since the look-up.
      const present = isTakenOver ? await target.client.users.get(user.id, context.call) : user;
      // The id is stored last, because a link with an id means that all values were observed.
      await observe(context, desired, present);
      const notOurs = await claim(context, user.id, { isNew: false, core: desired.core });
      if (notOurs) return notOurs;
      link.id = user.id;
      link.origin = isMade ? 'created' : 'adopted';
      if (isMade) link.isIncomplete = true;
      delete link.tried;
      context.logger.info({ ref: context.work.ref, origin: link.origin }, 'account adopted');
      const takenFrom = isTakenOver ? former : undefined;
      await context.save({ linked: true, rewriteMemberships: true, takenFrom });
      return { kind: 'linked' };
    }
  }
}

/**
 * Returns whether the user can be created without a look-up. A recent complete list must show no account with the userName
 * or the externalId, and no account may have received the externalId since. False after an earlier attempt to create the
 * user, because that attempt may have created the account.
 */
export async function isUnlisted(context: SyncContext, { core }: DesiredUser): Promise<boolean> {
  const { call, link, outbox, target } = context;
  const externalId = externalIdOf(core);
  // Noted before the list is checked, so that of two processes with the same externalId at least one sees the other's note.
  const isRecent = externalId !== null && (await target.recentExternalIds.note(externalId));
  // After a lost answer, a refusal, or a recent write of this externalId, an account may exist that the list does not show yet.
  if (link.tried || link.condition || isRecent) return false;
  const asking = { countNew: outbox.countNew, signal: call.signal };
  const wanted = { userName: String(core.userName), externalId };
  // Undefined: no list is at hand.
  return (await target.listedAccounts.mayHave(wanted, asking)) === false;
}

/** Forgets the id by which the user list shows an account, for the link leads to another account now. */
function forgetListId(link: Link): void {
  delete link.account;
  delete link.renamedAt;
  delete link.isAdministrator;
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
 * Reads the values of an account into its link, which a repair restored with the id only.
 * @throws PlatformError, also a 404
 */
export async function observeLinked(context: SyncContext, desired: DesiredUser): Promise<void> {
  const { link, target, call } = context;
  await observe(context, desired, await target.client.users.get(platformIdOf(link), call));
  await context.save();
}

/** Returns when to look again; after the last attempt, the conflict with this message. @param status of a refusal */
function laterOrConflict(context: SyncContext, message: string, status?: number): FoundAccount {
  const afterMs = successionWait(context);
  if (afterMs !== undefined) return { kind: 'later', afterMs };
  return { kind: 'blocked', condition: condition(context, 'Conflict', message, status) };
}

/**
 * Creates and links the account, inactive unless the target activates at once. After a lost answer, the next look-up finds the
 * account.
 */
export async function createMissingAccount(
  context: SyncContext,
  desired: DesiredUser,
): Promise<FoundAccount> {
  const { target, link } = context;
  const later = untilShown(context, desired.core);
  if (later) return later;
  // Definitions are created first, because the platform refuses values of unknown attributes.
  const definitions = await target.catalogue.definitions(context.call.signal);
  const active = desired.active && target.policy.users.activation === 'immediate';
  const writable = Object.fromEntries(
    Object.entries(desired.attributes).filter(([name]) => definitions.get(name)?.kind === 'ready'),
  );
  const body = createBody({ ...desired, attributes: writable }, target.mapping.types, active);
  // The former names of the account that may exist are kept until the create is answered.
  if (link.mayExist?.id === undefined) link.core = desired.core;
  let created: WireUser;
  try {
    created = await sendCreate(context, { ...desired.core, active }, () =>
      context.write('create user', () => target.client.users.create(body, context.call)),
    );
  } catch (error) {
    if (!isStatus(error, 409)) throw error;
    // The name exists. If an earlier attempt created the account, the lookup adopts it.
    const found = await findUser(context, desired);
    if (found.kind !== 'absent') return found;
    // Lists may lag behind writes (contract 12.9), so the lookup is repeated before an operator is asked.
    const message = error.platformMessage || 'the platform says that this user exists, but does not show it';
    return laterOrConflict(context, message, 409);
  }
  const notOurs = await claim(context, created.id, { isNew: true, core: desired.core });
  // `tried` stays in the stored link, so that the next sync looks the account up instead of making another one.
  if (notOurs) return notOurs;
  forgetListId(link);
  context.shownAccount = { user: created };
  link.id = created.id;
  link.origin = 'created';
  link.isIncomplete = true;
  delete link.tried;
  delete link.unsure;
  link.core = { ...desired.core, ...(created.active !== undefined && { active: created.active }) };
  link.attributes = echoedAttributes(created, writable);
  // An account that has all its values may join its groups at once.
  const isWhole =
    desired.faults.length === 0 && attributeChanges(desired.attributes, link.attributes).length === 0;
  if (isWhole) link.observedGeneration = context.work.generation;
  await context.save({ linked: true, rewriteMemberships: true, isNew: true, requeueGroups: isWhole });
  return { kind: 'linked' };
}

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

/** Attributes that distinguish two people with the same externalId. */
const PERSONAL = ['displayName', 'name.givenName', 'name.familyName'];

/** Filters by externalId, which the platform does not document. If it refuses that, the target is not asked again. */
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
