// Sentences about a person who was deleted at the source and pushed again: the account may still be linked to the former record,
// that of the deleted user, while the guard holds a change of it.
import { refOf } from '../directory/records.ts';
import { formerWithName, type FoundResource } from '../ops/find.ts';
import { refsOf } from '../ops/approvals/held-change.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { leaving } from '../sync/group/members.ts';
import type { Explanation } from './explanation.ts';
import { afterHold } from './guard-words.ts';
import { someOf } from '../support/sentence-parts.ts';

const HELD_WORDS = {
  deactivate: 'the deactivation',
  delete: 'the deletion',
  removeMembers: 'removals from groups',
  clearAttributes: 'the emptying of attributes',
};

/**
 * Returns a sentence about a former record of the person that is linked to the account of this name and of which the guard holds a
 * change; undefined: there is none. The platform is not read.
 * @param facts.nameAtTarget userName of the person at the target
 */
export async function formerRecordText(
  { connection, directory, links, outbox, target }: ReconcileScope,
  { kind, id, name, record }: FoundResource,
  facts: Pick<Explanation, 'nameAtTarget' | 'hold' | 'target'>,
): Promise<string | undefined> {
  // Only a person with a stored record can have a former record. No index leads to it, so the resources of the held changes are
  // searched.
  const list = kind === 'User' && record ? await outbox.guardStore.open() : undefined;
  if (!list) return undefined;
  for await (const page of outbox.guardStore.pages(list)) {
    const found = await formerWithName({ directory, links }, target.name, 'User', page.flatMap(refsOf), [
      facts.nameAtTarget ?? name,
    ]);
    const former = found.find((ref) => ref !== refOf('User', id));
    if (former === undefined) continue;
    const [{ core }, { guard, pendingMemberships }] = await Promise.all([
      links.get(target.name, former),
      outbox.resourceStatus(former),
    ]);
    const left = leaving(pendingMemberships).map((group) => refOf('Group', group));
    const groups = (await links.getMany(target.name, left)).map(({ core: group }, index) =>
      String(group?.displayName ?? left[index]),
    );
    const own = new Set(
      guard
        .filter(({ state }) => state === 'held' || state === 'expired')
        .map((each) => HELD_WORDS[each.kind]),
    );
    // The guard stores a held removal from a group with the group, so a record without held changes of its own has such a removal.
    const held = own.size > 0 ? [...own].join(' and ') : HELD_WORDS.removeMembers;
    const state = core?.active === false ? 'closed' : 'open';
    const where = groups.length > 0 ? `, in ${someOf(groups)}` : '';
    return `An account of this name at ${target.name} belongs to the former record ${former}, deleted at the source: by its last sync it was ${state}${where}. The guard holds ${held} of it: scim-bridge approvals show ${connection}.${list.id} --ref ${former}. If somebody has made that by hand, ${afterHold(facts)}scim-bridge sync ${former} takes it off the list.`;
  }
  return undefined;
}

/**
 * Returns a sentence about an account that the pending sync of a person without account may take over; undefined: no sync is to
 * come. Redis does not lead from the person to a former record without held changes; only the platform shows its account.
 */
export const takeoverText = ({
  kind,
  ref,
  stored,
  inScope,
  mark,
}: Pick<Explanation, 'kind' | 'ref' | 'stored' | 'inScope' | 'mark'>): string | undefined =>
  kind === 'User' && stored && inScope && mark
    ? `If the platform has an account of a former record of this person, the sync takes it over: scim-bridge sync ${ref} --dry-run tells.`
    : undefined;
