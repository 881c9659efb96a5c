// Renames a group at the platform.
import { type Link, platformIdOf } from '../../directory/outbox/link.ts';
import type { PlatformPatchOperation } from '../../platform/wire.ts';
import type { SyncContext } from '../context.ts';
import { isStatus } from '../calls/failures.ts';
import { warnOfRoles } from './members.ts';
import type { SyncOutcome } from '../outcome.ts';
import { waitForName } from '../names/taken-name.ts';

/** Returns whether the platform has confirmed the name as that of the linked group; false for undefined. */
export const isNameConfirmed = ({ core, unsure }: Link, name: string | undefined): boolean =>
  name !== undefined && core?.displayName === name && unsure === undefined;

/**
 * Renames the group.
 * @returns an outcome if another group has the name: the sync waits for it, or is refused; undefined: the name is written
 * @throws PlatformError
 */
export async function renameGroup(context: SyncContext, name: string): Promise<SyncOutcome | undefined> {
  const { link, target } = context;
  warnOfRoles(context, String(link.core?.displayName), name);
  const rename: PlatformPatchOperation[] = [{ op: 'replace', path: 'displayName', value: name }];
  try {
    await context.attempt(['displayName'], 'rename group', () =>
      target.client.groups.patch(platformIdOf(link), rename, context.call),
    );
  } catch (error) {
    if (!isStatus(error, 409)) throw error;
    const waiting = await waitForName(context, name);
    if (waiting === undefined) throw error;
    return waiting;
  }
  link.core = { displayName: name };
  await context.save();
  return undefined;
}
