// Reads one resource from the platform, so that an explanation shows its present state.
import type { Ref } from '../directory/records.ts';
import { compareOne } from '../reconcile/compare-one.ts';
import { isChange } from '../reconcile/entry.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { Explanation } from './explanation.ts';

/** Time for all reads of one resource, milliseconds. */
const LOOK_MS = 3000;
/** Members of a group up to which they are compared too: 100 a call. */
const COMPARED_MEMBERS = 1000;

/** Compares the resource with the platform within 3 s. @param members number of desired members of a group */
export async function lookAtPlatform(
  scope: ReconcileScope,
  ref: Ref,
  members: number,
): Promise<Explanation['platform']> {
  const { clock, target } = scope;
  const at = new Date(clock.now()).toISOString();
  const unread: Explanation['platform'] = { at, state: 'unread', differences: [] };
  if ((await target.breaker.read()).open) return unread;
  const signal = AbortSignal.timeout(LOOK_MS);
  try {
    const entries = await compareOne(scope, ref, { signal, members: members <= COMPARED_MEMBERS });
    if (entries === null) return unread;
    const differences = entries
      .filter(isChange)
      .map(({ action, reason, attribute, member, before, after }) => ({
        action,
        subject: attribute ?? member?.name ?? null,
        ...{ reason, before, after },
      }));
    return { at, state: differences.length > 0 ? 'differs' : 'equal', differences };
  } catch (error) {
    if (!signal.aborted) throw error;
    return unread;
  }
}
