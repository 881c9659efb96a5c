// Changes what is linked at a target, apart from the save of a link by its own sync (work.ts): a link is forgotten or adopted, a
// restore may have lost it, or another resource takes over what a deleted group had.
import { parseRef, type Ref } from '../records.ts';
import { toLinkText, type Link } from './link.ts';
import type { RunAtTarget } from './run-at-target.ts';

/** Pending removals that one script copies. */
const INHERITED_PORTION = 200;

export function createLinkChanges(run: RunAtTarget) {
  /**
   * Deletes the link of a resource, so that the next sync looks the account or group up again.
   * @param platformId the id that the link has; '': it has none, but an account or group may exist (`mayExist`, `tried` of link.ts)
   * @param options `keepsId`: the link of a stored resource is replaced by a note that the account or group may exist (`mayExist`),
   *   so that it is closed if the resource is deleted first; `leaves`: the account or group that a create without answer may have
   *   made is not looked for any more; `request`: id of the order; absent: the bridge itself forgets the link
   */
  async function forgetLink(
    ref: Ref,
    platformId: string,
    {
      keepsId = false,
      leaves = false,
      request,
    }: { keepsId?: boolean; leaves?: boolean; request?: string } = {},
  ): Promise<void> {
    const kept = { keepsId: keepsId || undefined, leaves: leaves || undefined };
    await run('forget_link', { ref, platformId, request, ...kept });
  }

  /**
   * Notes that a restore may have lost the links of these resources (`mayExist`). A link stays as it is if it has a platform id,
   * such a note already, or a create without answer (`tried`).
   * @param names their names at the source, by the paths of `Link.core`
   */
  async function noteMayExist(names: readonly (readonly [Ref, NonNullable<Link['core']>])[]): Promise<void> {
    const items = names.map(([ref, core]) => [ref, (JSON.parse(toLinkText({ core })) as { c: object }).c]);
    if (items.length > 0) await run('note_may_exist', { items });
  }

  /**
   * Copies the pending, held and rejected removals of a group that was deleted at the source to the `heir`, which takes over its
   * group at the platform. Called before the former group loses its link.
   */
  async function inheritRemovals(former: string, heir: string): Promise<void> {
    let cursor = '0';
    do {
      const [_tag, next] = await run('inherit_removals', { former, heir, cursor, count: INHERITED_PORTION });
      cursor = String(next);
    } while (cursor !== '0');
  }

  /**
   * Links a resource by order of an operator and marks it, so that all its values are written (`imported`). `unchanged`: it is
   * linked so already. `taken`: the platform id is linked to another resource. `busy`: a sync of the resource is running.
   * `unknown`: the resource is not stored.
   */
  async function adoptLink(
    ref: Ref,
    link: Link & { id: string },
    request: string,
  ): Promise<'imported' | 'unchanged' | 'taken' | 'busy' | 'unknown'> {
    const args = { ref, ...parseRef(ref), platformId: link.id, request };
    const [tag] = await run('adopt_link', args, toLinkText(link));
    return tag as 'imported' | 'unchanged' | 'taken' | 'busy' | 'unknown';
  }

  return { forgetLink, noteMayExist, inheritRemovals, adoptLink };
}
