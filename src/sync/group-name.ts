// Writes the name of a group, and tells of a group that keeps the temporary name of an exchange (taken-name.ts).
import { forgetObserved, type Link } from '../directory/outbox/links.ts';
import type { PlatformPatchOperation } from '../platform/wire.ts';
import { isAbsent } from './absence.ts';
import { condition } from './condition.ts';
import type { SyncContext } from './context.ts';
import { isGone, isStatus } from './failures.ts';
import { warnOfRoles } from './members.ts';
import type { SyncOutcome } from './outcome.ts';
import { nameBehind, waitForName } from './taken-name.ts';
import { platformIdOf } from './platform-id.ts';

/** Returns whether the platform has confirmed the name as that of the linked group. */
export const isNameConfirmed = ({ core, unsure }: Link, name: string | undefined): boolean =>
  name !== undefined && core?.displayName === name && unsure === undefined;

/** Renames the group. @returns an outcome while another group is to give up the name @throws PlatformError */
export async function renameGroup(context: SyncContext, name: string): Promise<SyncOutcome | undefined> {
  const { link, target } = context;
  warnOfRoles(context, String(link.core?.displayName), name);
  const rename: PlatformPatchOperation[] = [{ op: 'replace', path: 'displayName', value: name }];
  try {
    await context.attempt(['displayName'], 'rename group', () =>
      target.client.groups.patch(platformIdOf(link), rename, context.call),
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
 * Returns the outcome of a group whose temporary name no sync ends; undefined: its name is none, or an operator renamed it.
 * A person decides about the name, because the settings or the source no longer want the access of any name that the bridge
 * could give.
 * @param why the reason that no sync ends it
 */
export async function temporaryNameLeft(context: SyncContext, why: string): Promise<SyncOutcome | undefined> {
  const { outbox, work, writes } = context;
  const temporaryName = await keptTemporaryName(context);
  if (temporaryName === undefined) return undefined;
  // Nothing else of the group is wanted, so no held change of it is.
  if (work.held) await outbox.guardStore.endSync(work.ref, [], { isGone: false, unasked: [] });
  return {
    kind: 'blocked',
    writes,
    condition: condition(context, 'TemporaryName', `${why}, and it is called ${temporaryName}`),
  };
}

/** Returns the outcome of a group that waits for a decision; its condition tells of a temporary name. */
export async function withTemporaryName(context: SyncContext, outcome: SyncOutcome): Promise<SyncOutcome> {
  if (!('condition' in outcome) || !outcome.condition) return outcome;
  const temporaryName = await keptTemporaryName(context);
  if (temporaryName === undefined) return outcome;
  const message = `${outcome.condition.message}; the group is called ${temporaryName}, so its members have the access of no name`;
  return { ...outcome, condition: { ...outcome.condition, message } };
}

/** Returns the temporary name that the platform shows, with what it waited for; notes the name of an operator in the link. */
async function keptTemporaryName(context: SyncContext): Promise<string | undefined> {
  const { link, target } = context;
  const name = nameBehind(context);
  if (link.id === undefined || name === undefined) return undefined;
  const temporaryName = String(link.core?.displayName);
  try {
    const { displayName } = await target.client.groups.get(link.id, { members: false }, context.call);
    if (displayName === temporaryName)
      return `${temporaryName}, its temporary name until another group gave up the name ${name}`;
    link.core = { displayName };
    forgetObserved(link, 'displayName');
  } catch (error) {
    if (!isGone(error) || !(await isAbsent(context, 'Group', link))) throw error;
  }
  return undefined;
}
