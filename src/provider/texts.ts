// Converts records of one resource type to answer texts. Groups of users and members of groups are loaded only if needed.
import type { Kind, StoredRecord } from '../directory/records.ts';
import type { Projection } from '../scim/index.ts';
import { groupText, userText } from './answers.ts';
import type { ProviderDeps } from './context.ts';

/**
 * Groups with at most this many members are loaded together. The members of a larger group take as long as a page of small groups,
 * so larger groups are loaded one after the other.
 */
export const FEW_MEMBERS = 1000;

export type Texts = ReturnType<typeof createTexts>;

export function createTexts({ directory, userType, groupType }: ProviderDeps) {
  /** Returns the texts in the order of the records. @param wanted returns whether the texts show groups or members */
  return async function textsOf(
    kind: Kind,
    records: StoredRecord[],
    baseUrl: string,
    wanted: (name: 'members' | 'groups') => boolean,
    projection?: Projection,
  ): Promise<string[]> {
    if (kind === 'User') {
      const groups = wanted('groups') ? await directory.groupsOf(records.map(({ id }) => id)) : [];
      return records.map((record, index) =>
        userText(userType, record, groups[index] ?? [], baseUrl, projection),
      );
    }
    if (!wanted('members'))
      return records.map((record) => groupText(groupType, record, undefined, baseUrl, projection));
    const members = await Promise.all(records.map(({ id }) => directory.membersUpTo(id, FEW_MEMBERS)));
    const texts: string[] = [];
    for (const [index, record] of records.entries()) {
      const few = members[index];
      // `listed`: these are all members, because there are at most FEW_MEMBERS.
      const all = few?.kind === 'listed' ? few : await directory.membersOf(record.id);
      texts.push(groupText(groupType, record, all, baseUrl, projection));
    }
    return texts;
  };
}
