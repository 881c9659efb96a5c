// Asks the guard before values of attributes are emptied.
import type { Permission } from '../../directory/guard/guard-store.ts';
import type { SyncContext } from '../context.ts';
import { isEmpty, mayHaveValue } from '../diff.ts';
import { permit } from '../gate.ts';
import type { DesiredUser } from '../mapping/mapping.ts';
import { mayBeActive } from './account-state.ts';

/**
 * Asks the guard for the attributes that are to be emptied. A closed account needs no permission, because its values give no
 * access.
 * @returns the attributes that must keep their value, with the decision: `held` or `rejected`
 */
export async function refusedRemovals(
  context: SyncContext,
  desired: DesiredUser,
  names: string[],
): Promise<Map<string, Permission>> {
  const { link } = context;
  const refused = new Map<string, Permission>();
  const isClosed = !mayBeActive(link);
  if (isClosed) return refused;
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
