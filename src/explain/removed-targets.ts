// Describes the accounts and groups of a resource at targets that the settings of its connection no longer have.
import type { FoundResource } from '../ops/find.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { mayBeActive } from '../sync/user/account-state.ts';

/**
 * Returns a sentence for each removed target at which the resource is linked; not if the target has a new name and the same account
 * or group is linked there. Reads the links only, not the platform.
 */
export async function removedTargetReasons(
  { connection, links, formerTargets, isLinkedAnew }: ReconcileScope,
  { kind, ref }: FoundResource,
): Promise<string[]> {
  const reasons: string[] = [];
  for (const target of await formerTargets()) {
    const link = await links.get(target, ref).catch(ifDamaged);
    // Nothing was linked there. A damaged link (undefined) may have an account, so it is told.
    if (link && link.id === undefined) continue;
    if (link?.id !== undefined && (await isLinkedAnew(target, { ref, id: link.id }))) continue;
    const state = link && !mayBeActive(link) ? 'is closed' : 'may be active';
    const what = kind === 'User' ? `An account there ${state}` : 'A group is still there';
    reasons.push(
      `The connection ${connection} no longer feeds the target ${target}. ${what}, and nothing is written to it: scim-bridge links show ${ref} names it.`,
    );
  }
  return reasons;
}

/**
 * Returns undefined for a link that is no JSON. A proof of derived data (docs/proof.md) does not repair a link at a removed target,
 * so the damage lasts and must not make every explanation of the resource fail.
 * @throws every other error
 */
function ifDamaged(error: unknown): undefined {
  if (!(error instanceof SyntaxError)) throw error;
}
