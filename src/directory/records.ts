// What is stored for one resource, and how it is named elsewhere.
import { foldCase } from '../scim/index.ts';

export type Kind = 'User' | 'Group';

/** The name of a resource inside one connection: `User:<id>` or `Group:<id>`. */
export type Ref = `${Kind}:${string}`;

export const refOf = (kind: Kind, id: string): Ref => `${kind}:${id}`;

export function parseRef(ref: Ref): { kind: Kind; id: string } {
  const colon = ref.indexOf(':');
  return { kind: ref.slice(0, colon) as Kind, id: ref.slice(colon + 1) };
}

/** Urgency of a change, most urgent first. */
export const LANES = ['deactivation', 'edit', 'new', 'reconcile'] as const;
export type Lane = (typeof LANES)[number];

/** What a user's record says of `active`; absent counts as active. */
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
  text: string;
}

/** A record with its place in the order of creation, which it never changes. */
export interface PlacedRecord extends StoredRecord {
  place: number;
}

/** A record as it is stored at its first version. `entries`: its index entries as JSON. */
export const firstRecord = (now: number, state: UserState, entries: string, text: string): string =>
  `1 ${now} ${now} ${state} ${entries}\n${text}`;

/** The text of a record as it is stored. */
export const textOf = (stored: string): string => stored.slice(stored.indexOf('\n') + 1);

/** Reads `version created modified state entries`, a line break, the text (scripts/shared/heads.lua writes it). */
export function parseStored(id: string, stored: string): StoredRecord {
  const first = stored.indexOf(' ');
  const second = stored.indexOf(' ', first + 1);
  const third = stored.indexOf(' ', second + 1);
  return {
    id,
    version: Number(stored.slice(0, first)),
    created: Number(stored.slice(first + 1, second)),
    lastModified: Number(stored.slice(second + 1, third)),
    text: stored.slice(stored.indexOf('\n', third) + 1),
  };
}

/** A record of a scan. Of most only the text is looked at, so the rest is read when somebody asks. */
export class ScannedRecord implements PlacedRecord {
  readonly id: string;
  readonly place: number;
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
}

/** Comparison form of values that SCIM compares without case. */
export const fold = foldCase;
