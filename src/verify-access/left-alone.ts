// Names the groups and values of an account that the settings leave alone: the verdict "as desired" does not cover them.
// Reads Redis, writes nothing.
import { fold, parseRef, refOf, type Ref } from '../directory/records.ts';
import { parseLink, type Link } from '../directory/outbox/link.ts';
import { readRecordNames } from '../directory/resources/record-names.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { leaverTestOf } from '../sync/group/left-members.ts';
import { keptAttributes, type DesiredUser } from '../sync/mapping/mapping.ts';
import { isEmpty } from '../sync/diff.ts';
import type { ExpectedGroup, Reading } from './account.ts';
import type { DesiredAccess } from './desired-access.ts';
import type { LeftAlone } from './report.ts';

/** Returns what the settings leave alone at an account that is to be open. */
export async function leftAloneOf(
  scope: ReconcileScope,
  wanted: DesiredAccess,
  link: Link,
  reading: Reading,
): Promise<LeftAlone[]> {
  // Groups and values of a closed account give no access.
  if (wanted.kind === 'closed') return [];
  const groups = await groupsLeftAlone(scope, wanted.leftOut, reading);
  return [...groups, ...valuesLeftAlone(scope, wanted.desired, link, reading)];
}

/**
 * Returns the values that stay at the platform: of attributes whose source has no value, and of attributes that left the settings.
 */
function valuesLeftAlone(
  { target }: ReconcileScope,
  desired: DesiredUser,
  link: Link,
  { view: { attributes } }: Reading,
): LeftAlone[] {
  const { types } = target.mapping;
  const unmapped = Object.keys(link.attributes ?? {}).filter((name) => types[name] === undefined);
  const values = (names: string[], why: LeftAlone['why']): LeftAlone[] =>
    names
      // Only a value that the platform has stays there.
      .filter((name) => !isEmpty(attributes[name]))
      .map((name) => ({ name: `attributes.${name}`, kind: 'attribute', why, actual: attributes[name] }));
  return [...values(keptAttributes(desired, types), 'kept'), ...values(unmapped, 'unmapped')];
}

/**
 * Returns the groups that the settings leave out, and those in which the policy leaves the person.
 * @param leftOutAtSource groups of the person at the source that the settings leave out
 */
async function groupsLeftAlone(
  scope: ReconcileScope,
  leftOutAtSource: readonly ExpectedGroup[],
  reading: Reading,
): Promise<LeftAlone[]> {
  const present = new Set(reading.view.groups.map(fold));
  const linked = await linkedGroups(scope, reading);
  const leftOut = [...leftOutAtSource.map(({ name }) => name), ...(await linkedLeftOut(scope, linked))];
  const ofSettings = [...new Set(leftOut)].sort().map((name): LeftAlone => {
    return { name, kind: 'group', why: 'leftOut', actual: present.has(fold(name)) };
  });
  const ofPolicy = (await groupsLeftByPolicy(scope, reading, linked))
    .filter((name) => !leftOut.includes(name))
    .map((name): LeftAlone => ({ name, kind: 'group', why: 'policy', actual: true }));
  return [...ofSettings, ...ofPolicy];
}

/** A group that the platform lists for the account and that the bridge manages: its name there, its ref and its link as text. */
interface LinkedGroup {
  display: string | undefined;
  ref: Ref;
  text: string;
}

/** Returns the groups that the platform lists for the account and that the bridge manages. */
async function linkedGroups({ drifts }: ReconcileScope, { user }: Reading): Promise<LinkedGroup[]> {
  const listed = user.groups ?? [];
  const found = await drifts.linkedTo(
    'Group',
    listed.map(({ value }) => String(value)),
  );
  return found.flatMap((each, index) => (each ? [{ ...each, display: listed[index]?.display }] : []));
}

/** Returns the linked groups of the account that the settings leave out, also after the source took the person out. */
async function linkedLeftOut(
  { directory, target }: ReconcileScope,
  linked: readonly LinkedGroup[],
): Promise<string[]> {
  const refs = linked.map(({ ref }) => ref);
  const names = await readRecordNames(directory, refs);
  return linked.flatMap(({ ref, display }) => {
    const name = names.get(ref);
    // A group that the settings map is managed, so its membership counts as a difference.
    return name === undefined || target.mapping.groupName(name) !== undefined ? [] : [display ?? name];
  });
}

/** Returns the groups in which the policy of the target leaves the person, although the source removed the person. */
async function groupsLeftByPolicy(
  { directory, drifts, target }: ReconcileScope,
  { user }: Reading,
  linked: readonly LinkedGroup[],
): Promise<string[]> {
  // Under `sync` no membership stays against the source.
  if (target.policy.policy === 'sync') return [];
  const [person] = await drifts.linkedTo('User', [user.id]);
  const id = person && parseRef(person.ref).id;
  const [joined = []] = id === undefined ? [] : await directory.groupsOf([id]);
  const wanted = new Set(joined.map((group) => refOf('Group', group.id)));
  return linked.flatMap(({ ref, text, display }) => {
    const link = parseLink(text);
    // A group that the source wants is not left against the source. `leaverTestOf` tells whether the link of the group lists the
    // person as removed at the source.
    const isLeft = !wanted.has(ref) && leaverTestOf(link)?.(id, user.id) === true;
    return isLeft ? [display ?? String(link.core?.displayName ?? ref)] : [];
  });
}

/** Words for each reason. @param actual of a group: whether the account is a member */
const WORDS: Record<LeftAlone['why'], (actual: unknown) => string> = {
  leftOut: (isMember) =>
    `left out by groups.include or groups.exclude; ${isMember === true ? 'the membership stays at the platform' : 'no member at the platform'}`,
  kept: () => 'kept though the source has no value: onEmpty is keep',
  policy: () => 'the source took the person out; the policy of the target leaves the membership',
  unmapped: () => 'no longer mapped; the value that the bridge wrote stays',
};

/** Returns each group and value with the reason; empty when there is none. */
export const besideDesiredText = (found: readonly LeftAlone[]): string =>
  found
    .map(
      ({ name, kind, why, actual }) => `${kind === 'group' ? `group ${name}` : name} (${WORDS[why](actual)})`,
    )
    .join(', ');
