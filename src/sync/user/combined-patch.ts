// Writes core attributes and attribute values of a user in one PATCH, so that no reader sees a half-changed person.
import { platformIdOf } from '../../directory/outbox/link.ts';
import type { PlatformPatchOperation, WireUser } from '../../platform/wire.ts';
import type { SyncContext } from '../context.ts';
import { coreOperations, echoedAttributes, EXTENSION, noteWrittenCore } from '../diff.ts';
import { isStatus } from '../calls/failures.ts';
import type { DesiredUser } from '../mapping/mapping.ts';

/** Time for which a target that refused the combined PATCH is not asked again, milliseconds. */
const REMEMBERED_MS = 3_600_000;

/**
 * Sends the changed core attributes and the values of `names` in one PATCH. A value counts as written only if the answer shows it.
 * A refused PATCH changes nothing (contract 2.6), so both are then written separately. A target that answers 501, or shows none of
 * the values, gets no combined PATCH for an hour. A 400 may be about one value, so the caller (sync-user.ts) counts a 400 as a
 * refusal of the combined form only if the target takes all single writes.
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
  // A single change is one write in any form.
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
