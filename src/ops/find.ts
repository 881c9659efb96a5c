// Finds the users and groups that an operator means by an id, resource key, name, externalId or address.
// Deleted resources are found as long as their tombstone is stored; by a name, address or externalId only while a link has it.
import type { DesiredState } from '../directory/desired-state.ts';
import type { Link } from '../directory/outbox/link.ts';
import {
  fold,
  nameInRecord,
  parseRef,
  refOf,
  type Kind,
  type Ref,
  type StoredRecord,
} from '../directory/records.ts';
import type { Tombstone } from '../directory/resources/directory.ts';

export interface FoundResource {
  connection: string;
  ref: Ref;
  kind: Kind;
  id: string;
  /** userName or displayName; the id if no name is known. */
  name: string;
  /** Undefined when it was deleted at the source; then `deleted` is set. */
  record: StoredRecord | undefined;
  deleted: Tombstone | undefined;
}

/** A connection to search, with the names of its targets. */
export type Searched = Pick<DesiredState, 'connection' | 'directory' | 'links'> & { targets: string[] };

/** Returns the connections of the states as `findResources` searches them. */
export const toSearched = (states: readonly DesiredState[]): Searched[] =>
  states.map(({ connection, directory, links, outboxes }) => ({
    connection,
    directory,
    links,
    targets: [...outboxes.keys()],
  }));

/** The indexes of each kind in the order in which they are searched. */
const LOOKUPS: [Kind, string[]][] = [
  ['User', ['id', 'username', 'externalid', 'emails.value']],
  ['Group', ['id', 'displayname', 'externalid']],
];

/** Returns all resources that `text` may identify, by connection. A part of a name or address does not match. */
export async function findResources(searched: readonly Searched[], text: string): Promise<FoundResource[]> {
  const wanted = text.trim();
  // A command that found several resources asks for a ref, so a ref must be unambiguous: a resource whose name has the form of this
  // ref is left out.
  const ref = refIn(wanted);
  const exact = ref ? await Promise.all(searched.map((state) => existing(state, [ref]))) : [];
  if (exact.some((each) => each.length > 0)) return exact.flat();
  const found = await Promise.all(searched.map((state) => findIn(state, wanted)));
  return found.flat();
}

/**
 * Returns the resources that an order means by `text`. A text in the form of a ref means only the resource of that ref, and an id
 * only its resource: a source may give a person the ref or the id of somebody else as a name, and an order must not change this
 * person instead.
 */
export async function findForOrder(searched: readonly Searched[], text: string): Promise<FoundResource[]> {
  const wanted = text.trim();
  const found = await findResources(searched, wanted);
  const exact = found.filter(({ ref, id }) => ref === wanted || id === wanted);
  return exact.length > 0 || refIn(wanted) ? exact : found;
}

/** Returns the ref if the text is the id of a resource, so that nothing takes it for a name; else the text. */
export async function idToRef(searched: readonly Searched[], text: string): Promise<string> {
  const wanted = text.trim();
  return (await findForOrder(searched, wanted)).find(({ id }) => id === wanted)?.ref ?? wanted;
}

/** Returns the text if it has the form of a ref, such as `User:2f8k`, which the directory may not know; else undefined. */
export const refIn = (text: string): Ref | undefined =>
  /^(User|Group):.+$/.test(text.trim()) ? (text.trim() as Ref) : undefined;

/** Finds resources of one connection: by its indexes; without a hit, by the names in the links (namedAtTarget). */
async function findIn(state: Searched, text: string): Promise<FoundResource[]> {
  // A person and a group may have the same name.
  const found = await Promise.all(LOOKUPS.map((of) => findByIndex(state, of, text)));
  return found.some((each) => each.length > 0) ? found.flat() : namedAtTarget(state, text);
}

/** Finds resources of one kind by their ids, and by the first other index that has the text. */
async function findByIndex(
  state: Searched,
  [kind, attributes]: (typeof LOOKUPS)[number],
  text: string,
): Promise<FoundResource[]> {
  const refs = new Set<Ref>();
  for (const attribute of attributes) {
    for (const hit of (await state.directory.lookup(kind, attribute, text)) ?? []) refs.add(refOf(kind, hit));
    // The text may be the id of one resource and the name of another, so a found id does not end the search.
    if (attribute === 'id') continue;
    const known = await existing(state, refs);
    // The first index with a hit ends the search: the same text as address or externalId would belong to another resource.
    if (known.length > 0) return known;
  }
  return [];
}

/** Returns the known resources of the refs, also deleted ones. */
async function existing(state: Searched, refs: Iterable<Ref>): Promise<FoundResource[]> {
  const found = await Promise.all([...refs].map((ref) => byRef(state, ref)));
  return found.filter((each) => each !== undefined);
}

/** Returns the stored or deleted resource of a ref; undefined: the connection does not know it. */
async function byRef(state: Searched, ref: Ref): Promise<FoundResource | undefined> {
  const { connection, directory } = state;
  const { kind, id } = parseRef(ref);
  const [record, deleted] = await Promise.all([directory.get(kind, id), directory.tombstone(id)]);
  if (!record && deleted?.kind !== kind) return undefined;
  const name = record ? (nameInRecord(record) ?? id) : await lastName(state, ref);
  return { connection, ref, kind, id, name, record, deleted: record ? undefined : deleted };
}

/** Returns the name of a deleted resource in its link at the first target that has one, else its id. */
async function lastName({ links, targets }: Searched, ref: Ref): Promise<string> {
  for (const target of targets) {
    const { core } = await links.get(target, ref);
    const name = core?.userName ?? core?.displayName;
    if (typeof name === 'string') return name;
  }
  return parseRef(ref).id;
}

/**
 * Finds deleted resources, which are in no index, and groups that the settings rename, by the names in their links. Reads all
 * links.
 */
async function namedAtTarget(state: Searched, text: string): Promise<FoundResource[]> {
  const refs = new Set<Ref>();
  for (const target of state.targets) {
    for await (const { ref, link } of state.links.all(target)) if (hasName(ref, link, text)) refs.add(ref);
  }
  return (await existing(state, refs)).filter(
    ({ deleted, kind }) => deleted !== undefined || kind === 'Group',
  );
}

/** Returns whether the link has the text as a name, address or externalId. */
function hasName(ref: Ref, { core = {} }: Link, text: string): boolean {
  const { userName, displayName, externalId, emails } = core;
  const names = ref.startsWith('User:') ? [userName, emails] : [displayName];
  return externalId === text || names.some((name) => typeof name === 'string' && fold(name) === fold(text));
}

/**
 * Returns the refs of a kind whose resources are deleted at the source and had one of the names last at the target. The indexes
 * do not lead to them: a later resource may have the same name.
 */
export async function formerWithName(
  { directory, links }: Pick<Searched, 'directory' | 'links'>,
  target: string,
  kind: Kind,
  refs: readonly Ref[],
  names: readonly string[],
): Promise<Ref[]> {
  const ofKind = [...new Set(refs)].filter((ref) => parseRef(ref).kind === kind);
  const found = await links.getMany(target, ofKind);
  const named = ofKind.filter((ref, index) => names.some((name) => hasName(ref, found[index] ?? {}, name)));
  const ids = named.map((ref) => parseRef(ref).id);
  const stored = new Set((await directory.getMany(kind, ids)).map(({ id }) => id));
  return named.filter((ref) => !stored.has(parseRef(ref).id));
}
