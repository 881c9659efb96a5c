// Formats the warnings of a plan: lists and resources that were not read, another tenant, and a restore. Pure.
import { counted } from '../../support/counted.ts';
import type { Cause } from '../entry.ts';
import { anotherTenantText } from '../tenant/tenant.ts';
import type { Plan } from '../plan.ts';

/** Largest number of unread resources that are named. */
const MOST_SHOWN = 5;

/** Returns the lines of all warnings that the plan needs. */
export function warningLines({
  anotherTenant,
  target,
  proof,
  unknown,
  unread = [],
  restored,
  entries,
}: Plan): string[] {
  const found = (['users', 'groups'] as const)
    .filter((list) => !proof[list].complete)
    .map(
      (list) =>
        `  ! The list of ${list} was not read whole (${proof[list].reason ?? 'unknown'}). Nothing is concluded from what is missing, and nothing is taken away.`,
    );
  if (unknown > 0)
    found.push(
      `  ! ${counted(unknown, 'resource')} could not be read, or only in part: what was not read is unknown, and is neither compared nor repaired.`,
      ...unread
        .slice(0, MOST_SHOWN)
        .map(({ ref, name, why }) => `      ${name} (${ref})${why ? `: ${why}` : ''}`),
      ...(unknown > MOST_SHOWN ? [`      … and ${unknown - MOST_SHOWN} more: --json`] : []),
    );
  if (anotherTenant !== undefined)
    found.unshift(
      `  ! ${anotherTenantText(target, anotherTenant)} The plan shows what that brings: each person and group is looked up or created there, as at a new target.`,
    );
  const isCause = (cause: Cause): boolean => entries.some(({ attribution }) => attribution.cause === cause);
  if (restored && isCause('changed after the backup'))
    found.push(
      `  ! Restored at ${restored.at} from the backup${restored.backup === null ? '' : ` of ${restored.backup}`}: others or the bridge itself made the changes after the backup, and the bridge cannot tell which.`,
    );
  // A restore marks every resource, so the bridge no longer knows by which settings each was last applied.
  if (restored && isCause('restored from a backup'))
    found.push(
      `  ! Restored at ${restored.at}: "restored from a backup" stands for changes that no push brought since then: they were not written yet at the time of the backup, or come from settings that have changed since.`,
    );
  return found;
}
