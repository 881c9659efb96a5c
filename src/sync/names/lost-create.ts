// Prefers what an earlier create made at the platform, when its answer was lost and the source has changed the name since.
import { parseRef } from '../../directory/records.ts';
import type { SyncContext } from '../context.ts';

/**
 * Returns the accounts or groups with the present name. If there are none, or another existing resource is linked to each, returns
 * those with the name of the earlier create, unless another resource is linked to them. The sync adopts the one that this resource has
 * made, and renames it when the present name is free. Without that, its former name would stay taken for all others.
 * @param exact those with the present name
 * @param findTried finds those with the name of the earlier create
 */
export async function preferMade<T extends { id: string }>(
  { directory, links, target, work }: SyncContext,
  exact: T[],
  findTried: () => Promise<T[]>,
): Promise<T[]> {
  const othersOf = async (found: T[]) =>
    (await Promise.all(found.map(({ id }) => links.holderOf(target.name, work.kind, id)))).map((holder) =>
      holder === work.ref ? undefined : holder,
    );
  for (const other of await othersOf(exact)) {
    if (other === undefined) return exact;
    const { kind, id } = parseRef(other);
    if ((await directory.get(kind, id)) === undefined) return exact;
  }
  const tried = await findTried();
  const others = await othersOf(tried);
  const made = tried.filter((_, index) => others[index] === undefined);
  return made.length > 0 ? made : exact;
}
