// Records of one resource type → answer texts, loading what is kept beside the records only where it is wanted.
import type { Kind, StoredRecord } from '../directory/records.ts';
import type { Projection } from '../scim/index.ts';
import { groupText, userText } from './answers.ts';
import type { ProviderDeps } from './context.ts';

export type Texts = ReturnType<typeof createTexts>;

export function createTexts({ directory, userType, groupType }: ProviderDeps) {
  /** @param wanted whether the texts need a user's groups, a group's members */
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
    const members = wanted('members')
      ? await Promise.all(records.map(({ id }) => directory.membersOf(id)))
      : [];
    return records.map((record, index) => groupText(groupType, record, members[index], baseUrl, projection));
  };
}
