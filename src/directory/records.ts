// Describes how a resource is stored: its resource key, its record, and its index entries.
import { hash } from 'node:crypto';
import { foldCase } from '../scim/index.ts';
import { pairsOf } from './redis/portions.ts';

export type Kind = 'User' | 'Group';

/** The name of a resource inside one connection: `User:<id>` or `Group:<id>`. */
export type Ref = `${Kind}:${string}`;

export const refOf = (kind: Kind, id: string): Ref => `${kind}:${id}`;

/** Correlation id of a mark that the bridge itself sets, without a push or an order. */
export const NO_REQUEST = '-';

export function parseRef(ref: Ref): { kind: Kind; id: string } {
  const colon = ref.indexOf(':');
  return { kind: ref.slice(0, colon) as Kind, id: ref.slice(colon + 1) };
}

/** Priorities of changes, most urgent first. */
export const PRIORITIES = ['deactivation', 'edit', 'new', 'reconcile'] as const;
export type Priority = (typeof PRIORITIES)[number];
/** A score of `dirty:<t>` is position in PRIORITIES * PRIORITY_SPAN + due milliseconds (lua/keys.lua). */
export const PRIORITY_SPAN = 10_000_000_000_000;
/**
 * Scores of `dirty:<t>` from here on: the resource waits for a held change of another one, or a user waits for the removal from a
 * group whose sync was refused (BEHIND_HELD of lua/keys.lua).
 */
export const BEHIND_HELD_SCORE = PRIORITIES.length * PRIORITY_SPAN;
/** Scores of `dirty:<t>` from here on: a user waits for the removal from a refused group (BEHIND_REFUSED of lua/keys.lua). */
export const BEHIND_REFUSED_SCORE = BEHIND_HELD_SCORE + PRIORITY_SPAN;

/** The `active` of a user's record; absent counts as active. */
export type UserState = 'active' | 'inactive';

/** A stored resource. `text` is the canonical SCIM JSON without id, meta, groups and members. */
export interface StoredRecord {
  id: string;
  /** Counts changes of the resource, from 1; the weak ETag. */
  version: number;
  /** Unix milliseconds. */
  created: number;
  /** Unix milliseconds. */
  lastModified: number;
  /** `''` when the record is damaged; only a scan (ScannedRecord) has the stored text then. */
  text: string;
  /** The checksum does not match. Sync and lists ignore the record until a PUT replaces it. */
  damaged?: true;
}

/** A record with its place in the order of creation; the place never changes. */
export interface PlacedRecord extends StoredRecord {
  place: number;
}

/** Returns the checksum of a record as lua/heads.lua does: 12 hex digits. @param rest index entries, a line break, the text */
const checksumOf = (state: string, rest: string): string => hash('sha1', `${state} ${rest}`).slice(0, 12);

/** Returns the stored form of a new record with version 1 (`parseStored` lists the parts). @param entries index entries as JSON */
export const firstRecord = (now: number, state: UserState, entries: string, text: string): string =>
  `1 ${now} ${now} ${state} ${checksumOf(state, `${entries}\n${text}`)} ${entries}\n${text}`;

/** Returns the resource text of a stored record. */
export const textOf = (stored: string): string => stored.slice(stored.indexOf('\n') + 1);

/** Parses a stored record: `version created modified state checksum entries`, a line break, the text (lua/heads.lua). */
export function parseStored(id: string, stored: string): StoredRecord {
  const words = stored.split(' ', 5);
  const [version, created, lastModified, state = '', checksum] = words;
  // Entries, line break and text; entries and text may contain spaces.
  const rest = stored.slice(words.join(' ').length + 1);
  const isSound = rest.includes('\n') && checksum === checksumOf(state, rest) && Number(lastModified) >= 0;
  if (isSound)
    return {
      id,
      version: Number(version),
      created: Number(created),
      lastModified: Number(lastModified),
      text: textOf(rest),
    };
  // The version may be readable although the record is damaged; 0: it is not readable.
  return { id, version: Number(version) || 0, created: 0, lastModified: 0, text: '', damaged: true };
}

/** Returns whether the record is of a person whom the source deactivated; false if it is damaged. */
export const isInactive = ({ text, damaged }: StoredRecord): boolean =>
  !damaged && (JSON.parse(text) as { active?: boolean }).active === false;

/** Returns userName or displayName of a record; undefined for a damaged one. */
export function nameInRecord({ text, damaged }: StoredRecord): string | undefined {
  if (damaged) return undefined;
  const { userName, displayName } = JSON.parse(text || '{}') as Record<string, string | undefined>;
  return userName ?? displayName;
}

/** Returns whether the record is undamaged, so that lists and sync may use it. */
export const isSound = ({ damaged }: StoredRecord): boolean => !damaged;

/**
 * A record that a scan read. Version, times and checksum are parsed only on access, because most scans need the text
 * alone.
 */
export class ScannedRecord implements PlacedRecord {
  readonly id: string;
  readonly place: number;
  /** Stored text, also of a damaged record. */
  readonly text: string;
  readonly #stored: string;

  constructor(id: string, place: number, stored: string) {
    this.id = id;
    this.place = place;
    this.text = textOf(stored);
    this.#stored = stored;
  }

  get version(): number {
    return parseStored(this.id, this.#stored).version;
  }
  get created(): number {
    return parseStored(this.id, this.#stored).created;
  }
  get lastModified(): number {
    return parseStored(this.id, this.#stored).lastModified;
  }
  /** Undefined for an undamaged record; a getter of an optional property cannot declare that. */
  get damaged(): true {
    return parseStored(this.id, this.#stored).damaged as true;
  }
}

/** Folds values that SCIM compares without case. */
export const fold = foldCase;

/**
 * Index families of users, most with short names, because each record contains them (lua/entries.lua). `nameAndEmail`: a userName
 * that is also an email address. Several users may have one value in the families `email` and `sharedExternalId`.
 */
export const USER_FAMILY = {
  name: 'u',
  nameAndEmail: 'm',
  externalId: 'x',
  sharedExternalId: 'sharedExternalIds:User',
  email: 'e',
} as const;

/** `[index family, value]` under which a record is found. */
export type IndexEntry = [family: string, value: string];

/** The attributes of a SCIM resource that the directory reads. */
export interface IndexedResource {
  userName?: unknown;
  externalId?: unknown;
  displayName?: unknown;
  emails?: unknown;
  [attribute: string]: unknown;
}

const nonEmptyText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/**
 * Returns the index entries of a resource. userName and a group's displayName are unique without case, externalId with
 * case (RFC 7643 §3.1, §4.1.1). Group names are unique because policies of the platform refer to groups by name.
 */
export function indexEntries(kind: Kind, resource: IndexedResource): IndexEntry[] {
  return kind === 'User' ? entriesOfUser(resource) : entriesOfGroup(resource);
}

/**
 * Returns the index entries of a user.
 * @param isShared whether another user has the same externalId; then the externalId identifies neither of them
 */
export function entriesOfUser(
  { userName, externalId, emails }: IndexedResource,
  isShared = false,
): IndexEntry[] {
  const addresses = new Set<string>();
  for (const email of Array.isArray(emails) ? (emails as { value?: unknown }[]) : []) {
    const address = nonEmptyText(email?.value);
    if (address !== undefined) addresses.add(fold(address));
  }
  const entries: IndexEntry[] = [];
  const name = nonEmptyText(userName);
  // A userName that is also an email address has one entry for both.
  if (name !== undefined) {
    const isEmail = addresses.delete(fold(name));
    entries.push([isEmail ? USER_FAMILY.nameAndEmail : USER_FAMILY.name, fold(name)]);
  }
  const external = nonEmptyText(externalId);
  if (external !== undefined)
    entries.push([isShared ? USER_FAMILY.sharedExternalId : USER_FAMILY.externalId, external]);
  for (const address of addresses) entries.push([USER_FAMILY.email, address]);
  return entries;
}

function entriesOfGroup({ displayName, externalId }: IndexedResource): IndexEntry[] {
  const entries: IndexEntry[] = [];
  const name = nonEmptyText(displayName);
  if (name !== undefined) entries.push(['displayNames', fold(name)]);
  const external = nonEmptyText(externalId);
  if (external !== undefined) entries.push(['externalIds:Group', external]);
  return entries;
}

/** Returns the SCIM attribute of an index family with unique values. @param family its full name (FAMILIES of lua/entries.lua) */
export function attributeOf(family: string): string {
  if (family === 'userNames') return 'userName';
  return family === 'displayNames' ? 'displayName' : 'externalId';
}

/** A group of a user. */
export interface GroupName {
  id: string;
  displayName: string;
}

/** Parses JSON `[id, displayName, id, displayName, ...]` or `''`; returns the groups in order of name. */
export function toGroupNames(json: string): GroupName[] {
  if (json === '') return [];
  const groups = pairsOf(JSON.parse(json) as string[]).map(([id, displayName]) => ({ id, displayName }));
  return groups.sort(byName);
}

/** Compares groups by name; groups of one name by id. */
export const byName = (one: GroupName, other: GroupName): number =>
  (one.displayName === other.displayName ? one.id < other.id : one.displayName < other.displayName) ? -1 : 1;
