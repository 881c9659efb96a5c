// Creates the account of a user whom a look-up (find-user.ts) or a recent list of all accounts showed to have none.
// Flags of the link: directory/outbox/link.ts.
import type { WireUser } from '../../platform/wire.ts';
import type { SyncContext } from '../context.ts';
import { attributeChanges, createBody, echoedAttributes } from '../diff.ts';
import { isStatus } from '../calls/failures.ts';
import type { DesiredUser } from '../mapping/mapping.ts';
import { claim } from '../names/taken-by-connection.ts';
import { sendCreate, untilShown } from '../names/lost-create.ts';
import { externalIdOf } from './matching-accounts.ts';
import { type Linking, findUser, forgetListId, laterOrConflict } from './find-user.ts';

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
