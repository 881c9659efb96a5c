// Selects a part of an approval: by person, kind, cause, group or resource. `createSelector` looks the given names up once, and
// returns a function that tests the changes page by page.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Destruction } from '../../directory/guard/held-changes.ts';
import { unmanagedId } from '../../directory/member-names.ts';
import { fold, parseRef, type Kind, type Ref } from '../../directory/records.ts';
import type { DestructiveKind } from '../../guard/judge.ts';
import { leaving } from '../../sync/group/members.ts';
import { findForOrder, formerWithName, idToRef, refIn, toSearched, type Searched } from '../find.ts';
import { describeChanges, refsOf, type HeldCause } from './held-change.ts';

/** A change is selected when it fits each given field; within a field one value suffices. */
export interface ChangeSelection {
  /** Resources, such as `User:3f…`. */
  refs?: readonly string[] | undefined;
  /**
   * Names, addresses or ids of people; changes of their accounts and memberships fit. The userName or platform id of an
   * unmanaged member selects its removal from groups.
   */
  persons?: readonly string[] | undefined;
  kinds?: readonly DestructiveKind[] | undefined;
  causes?: readonly HeldCause[] | undefined;
  /** Names or ids of groups; changes of the group, and of persons who are or were its members, fit. */
  groups?: readonly string[] | undefined;
}

export type SelectPage = (page: Destruction[]) => Promise<Destruction[]>;

/** Thrown when the connection knows no person or group with a given name, or an order selects a part of a first approval. */
export class UnknownSelection extends Error {}

/** Words before the values of each field in the text of a selection. */
const WORDS: Record<keyof ChangeSelection, string> = {
  refs: 'only',
  persons: 'only person',
  kinds: 'only kind',
  causes: 'only cause',
  groups: 'only members of',
};

/** Longest text of a selection. */
const MOST_CHARACTERS = 500;

/** Returns the selection in words for the audit log; undefined: everything is selected. */
export function selectionText(selection: ChangeSelection): string | undefined {
  const parts = Object.entries(WORDS).flatMap(([field, words]) => {
    const values = selection[field as keyof ChangeSelection];
    return values ? [`${words} ${values.join(', ')}`] : [];
  });
  return parts.length > 0 ? parts.join('; ').slice(0, MOST_CHARACTERS) : undefined;
}

/**
 * Returns a function that takes a page of the approval's changes and returns the selected ones; undefined: everything is selected.
 * @param approval public id of the approval, for messages
 * @throws UnknownSelection when no person or group has a given name
 */
export async function createSelector(
  state: DesiredState,
  target: string,
  selection: ChangeSelection,
  approval: string,
): Promise<SelectPage | undefined> {
  if (selectionText(selection) === undefined) return undefined;
  // Only this target: elsewhere another group may have the name.
  const searched = toSearched([state]).map((each) => ({ ...each, targets: [target] }));
  const place = { state, target, searched, approval };
  const { refs, kinds, causes } = selection;
  const persons = selection.persons && (await findPersons(place, selection.persons));
  const groups = selection.groups && (await findGroups(place, selection.groups));
  return async (page) => {
    const concerned = await concernedBy(place, page, { persons, groups });
    const fitting = page.filter(
      (item) =>
        (!refs || refs.includes(item.ref)) && (!kinds || kinds.includes(item.kind)) && concerned(item),
    );
    return causes && fitting.length > 0 ? withCause(place, fitting, causes) : fitting;
  };
}

/** The target of a selection, where its names are looked up, and the public id of the approval. */
interface Place {
  state: DesiredState;
  target: string;
  searched: Searched[];
  approval: string;
}

/** The persons that a selection names. */
interface ChosenPersons {
  refs: ReadonlySet<Ref>;
  /** Given texts that are neither a ref nor an id (`namesAmong`). */
  names: readonly string[];
  /** Unmanaged members (`@<platform id>`, src/directory/member-names.ts). */
  unmanaged: ReadonlySet<string>;
}

async function findPersons(place: Place, given: readonly string[]): Promise<ChosenPersons> {
  const names = await namesAmong(place.state, given);
  const unmanaged = await unmanagedNamed(place.state, place.target, names);
  const refs = await refsNamed(place.searched, 'User', given, place.approval, unmanaged);
  return { refs, names, unmanaged: new Set([...unmanaged.values()].flat()) };
}

/** The groups that a selection names. */
interface ChosenGroups {
  refs: ReadonlySet<Ref>;
  /** Given texts that are neither a ref nor an id (`namesAmong`). */
  names: readonly string[];
  /** Users whose membership of the groups is still to be removed. */
  leavers: ReadonlySet<Ref>;
}

async function findGroups(place: Place, given: readonly string[]): Promise<ChosenGroups> {
  const refs = await refsNamed(place.searched, 'Group', given, place.approval);
  const names = await namesAmong(place.state, given);
  return { refs, names, leavers: await usersToRemove(place.state, place.target, refs) };
}

/**
 * Returns a test of the changes of a page: whether a change is of the chosen persons and, if groups are chosen too, also of these
 * groups or of their present or former members.
 */
async function concernedBy(
  { state, target }: Place,
  page: Destruction[],
  { persons, groups }: { persons: ChosenPersons | undefined; groups: ChosenGroups | undefined },
): Promise<(item: Destruction) => boolean> {
  const groupsOf = groups && (await currentGroups(state, page));
  const pageRefs = page.flatMap(refsOf);
  // A name also means resources of the page that the source deleted. `refsNamed` misses these if another resource has the name now.
  const withFormer = async (kind: Kind, { refs, names }: ChosenPersons | ChosenGroups): Promise<Set<Ref>> =>
    new Set([...refs, ...(await formerWithName(state, target, kind, pageRefs, names))]);
  const allPersons = persons && (await withFormer('User', persons));
  const allGroups = groups && (await withFormer('Group', groups));
  const isOfPersons = (item: Destruction): boolean =>
    !allPersons ||
    refsOf(item).some((ref) => allPersons.has(ref)) ||
    persons?.unmanaged.has(item.subject ?? '') === true;
  const isOfGroups = (item: Destruction): boolean =>
    !allGroups ||
    refsOf(item).some(
      (ref) =>
        allGroups.has(ref) ||
        groups?.leavers.has(ref) ||
        groupsOf?.get(ref)?.some((group) => allGroups.has(group)),
    );
  return (item) => isOfPersons(item) && isOfGroups(item);
}

/** Returns the changes that have one of the causes. */
async function withCause(
  { state, target }: Place,
  items: Destruction[],
  causes: readonly HeldCause[],
): Promise<Destruction[]> {
  const described = await describeChanges(state, target, items);
  return items.filter((_, index) => {
    const cause = described[index]?.cause;
    return cause !== undefined && causes.includes(cause);
  });
}

/** Returns the texts that are neither a ref nor an id. A ref or an id means one resource, even if another has it as a name. */
async function namesAmong(state: DesiredState, given: readonly string[]): Promise<string[]> {
  const searched = toSearched([state]);
  const meant = await Promise.all(given.map((text) => idToRef(searched, text)));
  return meant.filter((text) => !refIn(text));
}

/**
 * Returns the unmanaged members (`@<platform id>`, src/directory/member-names.ts) that each text selects: by the userName that
 * their removal was judged with, or by the platform id. A text that selects none is left out.
 */
async function unmanagedNamed(
  { outboxes }: DesiredState,
  target: string,
  texts: readonly string[],
): Promise<Map<string, string[]>> {
  const names = texts.length === 0 ? undefined : await outboxes.get(target)?.unmanagedNames.all();
  const found = new Map<string, string[]>();
  for (const text of texts)
    for (const [member, name] of names ?? [])
      if (fold(name) === fold(text) || unmanagedId(member) === text)
        found.set(text, [...(found.get(text) ?? []), member]);
  return found;
}

/**
 * Returns the persons or groups with these names.
 * @param unmanaged names of unmanaged members, for which no person is needed
 * @throws UnknownSelection when a name finds nothing
 */
async function refsNamed(
  searched: readonly Searched[],
  kind: 'User' | 'Group',
  names: readonly string[],
  approval: string,
  unmanaged: ReadonlyMap<string, readonly string[]> = new Map(),
): Promise<Set<Ref>> {
  const refs = new Set<Ref>();
  for (const name of names) {
    const found = (await findForOrder(searched, name)).filter((each) => each.kind === kind);
    if (found.length === 0 && !unmanaged.has(name.trim()))
      throw new UnknownSelection(
        `No ${kind === 'User' ? 'person' : 'group'} is known as ${name} in the connection ${searched[0]?.connection ?? ''}. For the names in it see scim-bridge approvals show ${approval}.`,
      );
    for (const { ref } of found) refs.add(ref);
  }
  return refs;
}

/** Returns the users whose membership of the groups is still to be removed at the target. */
async function usersToRemove(
  { outboxes }: DesiredState,
  target: string,
  groups: ReadonlySet<Ref>,
): Promise<Set<Ref>> {
  const users = new Set<Ref>();
  for (const group of groups) {
    const pending = await outboxes.get(target)?.pendingMembers(parseRef(group).id);
    for (const user of pending ? leaving(pending) : []) users.add(`User:${user}`);
  }
  return users;
}

/** Returns the groups that each user of a page is in at the source. */
async function currentGroups({ directory }: DesiredState, page: Destruction[]): Promise<Map<Ref, Ref[]>> {
  const refs = [...new Set(page.flatMap(refsOf))].filter((ref) => ref.startsWith('User:'));
  if (refs.length === 0) return new Map();
  const groups = await directory.groupsOf(refs.map((ref) => parseRef(ref).id));
  return new Map(refs.map((ref, index) => [ref, (groups[index] ?? []).map(({ id }): Ref => `Group:${id}`)]));
}
