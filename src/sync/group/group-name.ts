// Writes the name of a group.
import { type Link, platformIdOf } from '../../directory/outbox/links.ts';
import type { PlatformPatchOperation } from '../../platform/wire.ts';
import type { SyncContext } from '../context.ts';
import { isStatus } from '../calls/failures.ts';
import { warnOfRoles } from './members.ts';
import type { SyncOutcome } from '../outcome.ts';
import { waitForName } from '../names/taken-name.ts';

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
