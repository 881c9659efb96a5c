// Writes the name of a group, and sees that no group keeps the temporary name of an exchange (taken-name.ts).
import { forgetObserved, type Condition } from '../directory/outbox/links.ts';
import type { PlatformPatchOperation } from '../platform/wire.ts';
import { condition } from './condition.ts';
import type { SyncContext } from './context.ts';
import { isGone, isStatus } from './failures.ts';
import { warnOfRoles } from './members.ts';
import type { SyncOutcome } from './outcome.ts';
import { nameBehind, waitForName } from './taken-name.ts';

/** Renames the group. @returns an outcome while another group is to give up the name @throws PlatformError */
export async function renameGroup(context: SyncContext, name: string): Promise<SyncOutcome | undefined> {
  const { link, target } = context;
  warnOfRoles(context, String(link.core?.displayName), name);
  const rename: PlatformPatchOperation[] = [{ op: 'replace', path: 'displayName', value: name }];
  try {
    await context.attempt(['displayName'], 'rename group', () =>
      target.client.groups.patch(link.id ?? '', rename, context.call),
    );
  } catch (error) {
    // 409: another group has the name, which may be about to give it up.
    if (!isStatus(error, 409)) throw error;
    const waiting = await waitForName(context, name);
    if (waiting === undefined) throw error;
    return { ...waiting, writes: context.writes };
  }
  link.core = { displayName: name };
  await context.save();
  return undefined;
}

/**
 * Renames a group with a temporary name, in cases that rename no other group. `name`: by default the name that the source
 * wanted last.
 * @returns an outcome while another group is to give up the name @throws PlatformError
 */
export async function endTemporaryName(
  context: SyncContext,
  name = nameBehind(context),
): Promise<SyncOutcome | undefined> {
  const isTemporary = nameBehind(context) !== undefined;
  return isTemporary && name !== undefined ? renameGroup(context, name) : undefined;
}

/**
 * Returns the condition of a group with a temporary name that the settings leave out; undefined: its name is none, or an
 * operator renamed it. The bridge must not give a name that the settings leave out, so a person decides.
 */
export async function temporaryNameLeft(context: SyncContext): Promise<Condition | undefined> {
  const { link, target } = context;
  const name = nameBehind(context);
  if (link.id === undefined || name === undefined) return undefined;
  const temporaryName = String(link.core?.displayName);
  try {
    const { displayName } = await target.client.groups.get(link.id, { members: false }, context.call);
    if (displayName === temporaryName)
      return condition(
        context,
        'TemporaryName',
        `the settings leave the group out while it is called ${temporaryName}, its temporary name until another group gave up the name ${name}`,
      );
    link.core = { displayName };
    forgetObserved(link, 'displayName');
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  return undefined;
}
