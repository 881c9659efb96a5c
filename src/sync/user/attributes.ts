// Writes typed attribute values: through the REST values of an account (contract 3), or through the SCIM extension, which takes
// texts and whole numbers only (contract 12.3). The REST values need the number of the account (console-account.ts).
import type { Permission } from '../../directory/guard/guard-store.ts';
import { forgetObserved, platformIdOf } from '../../directory/outbox/link.ts';
import type { AttributeValue, PlatformPatchOperation } from '../../platform/wire.ts';
import { blockedBy } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import { isGone } from '../calls/failures.ts';
import { attributeChanges, EXTENSION, fitsExtension, isEmpty, mayHaveValue, writeOrder } from '../diff.ts';
import { permit } from '../gate.ts';
import type { DesiredUser } from '../mapping/mapping.ts';
import type { Unfinished } from '../outcome.ts';
import { writeCombinedPatch } from './write-account.ts';
import { NEW_ACCOUNT_MS, resolveAccount } from './console-account.ts';
import { mayBeActive } from './account-state.ts';
import { NEEDS_USER_LIST } from './user-list.ts';

/** How the writing of attributes ended. */
type AttributeResult =
  /** All values are written except those whose removal was rejected. */
  | { kind: 'done' }
  /** All values are written except those whose removal the guard holds. */
  | { kind: 'held' }
  | Unfinished;

/** After a 404 to a write, the wait grows by this step with each attempt. */
const RETRY_STEP_MS = 1000;

/**
 * Writes every attribute that differs, so that a person never has more access in between than before and after. First, one by one,
 * values that take something away. Then texts and whole numbers, in one PATCH with the changed core attributes. Last, one by one,
 * all other values and those that the PATCH did not write. An attribute that cannot be written (mapping failed, definition of
 * another type) does not stop the others. The result is then `blocked`, so that the user is not activated without that attribute.
 */
export async function writeAttributes(context: SyncContext, desired: DesiredUser): Promise<AttributeResult> {
  const { link, outbox, target } = context;
  const definitions = await target.catalogue.definitions(context.call);
  await outbox.definitions.note(definitions);
  const problems = desired.faults.map(({ attribute, reason }) => `${attribute} ${reason}`);
  // The same array: the gate also has the problems that are added to it below.
  context.gate.faults = problems;
  await noteEmptied(context, desired);
  const ids = new Map<string, string>();
  for (const name of attributeChanges(desired.attributes, link.attributes ?? {}, link.unsure)) {
    const definition = definitions.get(name);
    if (definition?.kind === 'ready') ids.set(name, definition.id);
    else problems.push(definition?.message ?? `attribute ${name} is not in the catalogue`);
  }
  const refused = await refusedRemovals(context, desired, [...ids.keys()]);
  for (const name of refused.keys()) ids.delete(name);
  const { attributes, unsure } = link;
  const applied = { types: target.mapping.types, attributes, unsure };
  const order = writeOrder(desired.attributes, applied, ids.keys());
  const write = (names: string[]): Promise<Unfinished | undefined> => {
    const idsOfNames = new Map(names.map((name) => [name, ids.get(name) ?? '']));
    return writeValues(context, desired, idsOfNames, problems);
  };
  const earlyEnd = await write(order.revoking);
  if (earlyEnd) return earlyEnd;
  const unwritten = await writeCombinedPatch(context, desired, order.combinable);
  const end = await write([...unwritten, ...order.others]);
  if (end) return end;
  if (problems.length > 0) return blockedBy(context, 'AttributesNotWritten', problems.join('; '));
  return { kind: [...refused.values()].includes('held') ? 'held' : 'done' };
}

/**
 * Asks the guard for the attributes that are to be emptied. A closed account needs no permission, because its values give no
 * access.
 * @returns the attributes that must keep their value, with the decision: `held` or `rejected`
 */
async function refusedRemovals(
  context: SyncContext,
  desired: DesiredUser,
  names: string[],
): Promise<Map<string, Permission>> {
  const { link } = context;
  const refused = new Map<string, Permission>();
  if (!mayBeActive(link)) return refused;
  const emptied = names.filter((name) => isEmpty(desired.attributes[name]) && mayHaveValue(link, name));
  const permissions = await permit(
    context,
    emptied.map((subject) => ({ kind: 'clearAttributes', subject })),
  );
  for (const [index, name] of emptied.entries()) {
    const permission = permissions[index] ?? 'held';
    if (permission !== 'allowed') refused.set(name, permission);
  }
  return refused;
}

/**
 * Notes in the link the values that somebody emptied at the platform, while the bridge waited for permission to empty them.
 * A value counts only if it is to be empty, a comparison saw it empty, and it is still empty now.
 */
async function noteEmptied(context: SyncContext, { attributes }: DesiredUser): Promise<void> {
  const { call, link, target } = context;
  const seen = Object.keys(attributes).filter((name) => {
    const path = `attributes.${name}`;
    return (
      Object.hasOwn(link.observed ?? {}, path) && isEmpty(link.observed?.[path]) && isEmpty(attributes[name])
    );
  });
  if (seen.length === 0) return;
  const account = await resolveAccount(context);
  // Without the account id the values cannot be read, so the guard goes on holding the changes that empty them.
  if (account.kind !== 'found') return;
  const values = await target.client.values.list(account.id, call).catch((error: unknown) => {
    if (!isGone(error)) throw error;
    // The next write looks for the account again.
    delete link.account;
    return undefined;
  });
  if (!values) return;
  for (const name of seen) {
    forgetObserved(link, `attributes.${name}`);
    if (isEmpty(values.find((each) => each.name === name)?.value))
      link.attributes = { ...link.attributes, [name]: null };
  }
}

/**
 * Writes values one by one.
 * @param ids name of the attribute → id of its definition
 * @param problems gets a sentence about each value that cannot be written
 * @returns the outcome with which the sync ends for now; undefined: the values are written, or `problems` says why not
 */
async function writeValues(
  context: SyncContext,
  desired: DesiredUser,
  ids: Map<string, string>,
  problems: string[],
): Promise<Unfinished | undefined> {
  if (ids.size === 0) return undefined;
  const { link, target } = context;
  const account = await resolveAccount(context);
  if (account.kind === 'absent') {
    problems.push(...(await writeThroughExtension(context, desired, [...ids.keys()])));
    return undefined;
  }
  if (account.kind !== 'found') return account;
  for (const [name, id] of ids) {
    if (await writeValue(context, account.id, id, name, desired.attributes[name] ?? null)) continue;
    // If the SCIM user is gone too, this read throws 404, and the sync starts again and creates a new account.
    await target.client.users.get(platformIdOf(link), context.call);
    link.attempts = (link.attempts ?? 0) + 1;
    return { kind: 'later', afterMs: Math.min(RETRY_STEP_MS * link.attempts, NEW_ACCOUNT_MS) };
  }
  return undefined;
}

/**
 * Writes one value.
 * @param account numeric account id
 * @returns true when the value is written; false after a 404 about account or definition, both of which the next sync looks up
 */
async function writeValue(
  context: SyncContext,
  account: string,
  attributeId: string,
  name: string,
  value: AttributeValue,
): Promise<boolean> {
  const { target, link } = context;
  try {
    await context.attempt([`attributes.${name}`], 'set attribute', () =>
      target.client.values.set(account, attributeId, value, context.call),
    );
  } catch (error) {
    // Only a stored account id can be out of date.
    if (!isGone(error) || link.account === undefined) throw error;
    delete link.account;
    link.lastFailure = error.message;
    target.catalogue.refresh();
    return false;
  }
  link.attributes = { ...link.attributes, [name]: value };
  await context.save();
  return true;
}

/**
 * Writes texts and whole numbers in the SCIM extension, for a tenant without a user list (contract 12.3).
 * @returns a sentence about each attribute of another type, which the extension cannot carry
 */
async function writeThroughExtension(
  context: SyncContext,
  desired: DesiredUser,
  names: string[],
): Promise<string[]> {
  const { target, link } = context;
  const carried = names.filter((name) => {
    const value = desired.attributes[name];
    return value === null || fitsExtension(target.mapping.types[name], value);
  });
  if (carried.length > 0) {
    const operations = carried.map((name): PlatformPatchOperation => {
      const path = `${EXTENSION}:${name}`;
      const value = desired.attributes[name];
      return value === null ? { op: 'remove', path } : { op: 'replace', path, value };
    });
    const paths = carried.map((name) => `attributes.${name}`);
    await context.attempt(paths, 'set attributes', () =>
      target.client.users.patch(platformIdOf(link), operations, context.call),
    );
    link.attributes = { ...link.attributes };
    for (const name of carried) link.attributes[name] = desired.attributes[name];
    await context.save();
  }
  return names
    .filter((name) => !carried.includes(name))
    .map((name) => `attribute ${name} ${NEEDS_USER_LIST}`);
}
