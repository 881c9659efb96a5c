// Writes the account of a user. `createMissingAccount` creates it after a look-up (find-user.ts) or a recent list of all accounts
// showed that there is none. `writeCombinedPatch` writes core attributes and attribute values in one PATCH (ADR 0024), so that no
// reader sees a half-changed person.
// Flags of the link: directory/outbox/link.ts.
import { forgetListId, platformIdOf } from '../../directory/outbox/link.ts';
import type { PlatformPatchOperation, WireUser } from '../../platform/wire.ts';
import type { SyncContext } from '../context.ts';
import {
  attributeChanges,
  coreOperations,
  createBody,
  echoedAttributes,
  EXTENSION,
  noteWrittenCore,
} from '../diff.ts';
import { isStatus } from '../calls/failures.ts';
import { externalIdOf, type DesiredUser } from '../mapping/mapping.ts';
import { claim } from '../names/taken-by-connection.ts';
import { sendCreate, untilShown } from '../names/lost-create.ts';
import { findUser, laterOrConflict, type Linking } from './find-user.ts';

/**
 * Returns whether the user can be created without a look-up. A recent complete list must show no account with the userName
 * or the externalId, and no account may have received the externalId since. False after an earlier attempt to create the
 * user, because that attempt may have created the account. Also notes the externalId as a recent one.
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

/**
 * Creates and links the account, inactive unless the target activates at once. After a lost answer, the next look-up finds the
 * account.
 */
export async function createMissingAccount(context: SyncContext, desired: DesiredUser): Promise<Linking> {
  const { target, link } = context;
  const later = untilShown(context, desired.core);
  if (later) return later;
  // Definitions are created first, because the platform refuses values of unknown attributes.
  const definitions = await target.catalogue.definitions(context.call);
  const active = desired.active && target.policy.users.activation === 'immediate';
  const writable = Object.fromEntries(
    Object.entries(desired.attributes).filter(([name]) => definitions.get(name)?.kind === 'ready'),
  );
  const body = createBody({ ...desired, attributes: writable }, target.mapping.types, active);
  // An account with the id in `mayExist` is recognised by its former names, so `core` keeps them.
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

/** Time after a refusal for which a target gets no combined PATCH, milliseconds. */
const REMEMBERED_MS = 3_600_000;

/**
 * Sends the changed core attributes and the values of `names` in one PATCH. A value counts as written only if the answer shows it.
 * A refused PATCH changes nothing (contract 2.6), so core attributes and values are then written separately. A target that answers
 * 501, or shows none of the values, gets no combined PATCH for an hour. A 400 may be about one value, so the caller (sync-user.ts)
 * counts a 400 as a refusal of the combined form only if the target takes all single writes.
 * @param names attributes whose values the SCIM extension can carry
 * @returns the names that remain to be written. When no PATCH was sent, or it was refused, `link.core` is unchanged, and the
 *   core attributes remain to be written too
 */
export async function writeCombinedPatch(
  context: SyncContext,
  desired: DesiredUser,
  names: string[],
): Promise<string[]> {
  const { clock, link, target } = context;
  const core = coreOperations(desired.core, link.core ?? {}, link.unsure);
  // A single change needs no combined PATCH.
  if (names.length === 0 || names.length + core.length < 2) return names;
  const wasRefused = clock.now() < target.lacks.combinedPatchUntil;
  if (wasRefused) return names;
  const values = names.map((name): PlatformPatchOperation => ({
    op: 'replace',
    path: `${EXTENSION}:${name}`,
    value: desired.attributes[name],
  }));
  const paths = core.flatMap(({ path }) => path ?? []);
  const { externalId } = desired.core;
  // Noted before the write, so that no process creates another account with this externalId without a look-up.
  if (typeof externalId === 'string' && paths.includes('externalId'))
    await target.recentExternalIds.note(externalId);
  const attempted = [...paths, ...names.map((name) => `attributes.${name}`)];
  let answer: WireUser | undefined;
  try {
    answer = await context.attempt(attempted, 'update user', () =>
      target.client.users.patch(platformIdOf(link), [...core, ...values], context.call),
    );
  } catch (error) {
    // After these statuses the single writes show which value the platform refuses. failures.ts judges every other error.
    if (!isStatus(error, 400, 403, 409, 501)) throw error;
    if (isStatus(error, 400)) context.isCombinedPatchRefused = true;
    if (isStatus(error, 501)) rememberRefusal(context);
    return names;
  }
  noteWrittenCore(link, desired.core);
  const echoed = answer ? echoedAttributes(answer, desired.attributes) : {};
  const shown = names.filter((name) => name in echoed && echoed[name] === desired.attributes[name]);
  const unconfirmed = names.filter((name) => !shown.includes(name));
  link.attributes = {
    ...link.attributes,
    ...Object.fromEntries(shown.map((name) => [name, desired.attributes[name]])),
  };
  // A platform that shows at least one value supports the combined PATCH; it may have stored other values in another form.
  if (shown.length === 0) rememberRefusal(context);
  if (unconfirmed.length > 0) {
    link.unsure = [...(link.unsure ?? []), ...unconfirmed.map((name) => `attributes.${name}`)];
  }
  await context.save();
  return unconfirmed;
}

/** Notes that the target refuses the combined PATCH, so that it gets single writes for an hour. */
export function rememberRefusal({ clock, target }: SyncContext): void {
  target.lacks.combinedPatchUntil = clock.now() + REMEMBERED_MS;
}
