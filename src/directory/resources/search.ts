// Finds users and groups by a part of a name, an address or an id, in steps that a caller can continue later. An index for such
// searches would make every push slower. So Redis matches the names that are keys of an existing index (userNames, names of
// groups), and scans the records of users for their other names.
import { fold, refOf, type Kind, type Ref } from '../records.ts';
import { pairsOf } from '../redis/portions.ts';
import type { ReadPortion } from './reading.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** A user or group with its names. */
export interface NamedResource {
  kind: Kind;
  ref: Ref;
  /** userName of a user, displayName of a group. */
  name: string;
  /** Only of a user. */
  displayName?: string;
  mail?: string;
  active?: boolean;
}

export interface NameSearchStep {
  found: NamedResource[];
  /** `place` of the next step; undefined: the end. */
  next: string | undefined;
}

/** The names in a stored resource. It was checked by its schema before it was stored, so the types are not checked again. */
interface StoredNames {
  userName?: string;
  displayName?: string;
  nickName?: string;
  externalId?: string;
  name?: { formatted?: string; givenName?: string; familyName?: string };
  emails?: { value?: string; primary?: boolean }[];
  active?: boolean;
}

/** Index keys that a step reads while few hits are to be expected, about 1 ms. */
const MOST_KEYS = 2000;
/** Index keys of the first step in an index, and of each step after the first hit: a common text has many hits among few keys. */
const FEWEST_KEYS = 100;
/** Bytes of records that one step reads, about 2 ms. */
const BYTES_A_STEP = 256 * 1024;
/** Smallest and largest number of records that one step reads, and the number that the first search of a process begins with. */
const [FEWEST_RECORDS, MOST_RECORDS, FIRST_RECORDS] = [10, 400, 100];
/**
 * Matches runs of characters that have one spelling in stored records. A space does not match, because a record may store the
 * name before it and the name after it in different attributes.
 */
const PLAIN_RUN = /[a-z0-9.@_-]+/g;

/** Phases of a search: the index of userNames, that of the names of groups, the records of users. */
const PHASES = ['userNames', 'displayNames', 'records'] as const;

export function createNameSearch({ redis, scripts, keys }: StoreDeps, portion: ReadPortion) {
  /** Number of records that the next step reads, of any search; adapted to the size of the records. */
  let recordsAStep = FIRST_RECORDS;

  /** Searches one portion of an index of names. @param hits number of hits so far @returns ids of the resources found */
  async function byKey(family: 'userNames' | 'displayNames', cursor: string, wanted: string, hits: number) {
    const count = hits > 0 || cursor === '0' ? FEWEST_KEYS : MOST_KEYS;
    const pattern = `*${wanted.replaceAll(/[*?[\]\\]/g, String.raw`\$&`)}*`;
    const [next, flat] = await redis.hscan(keys.key(family), cursor, 'MATCH', pattern, 'COUNT', count);
    return { next, ids: pairsOf(flat).map(([, id]) => id) };
  }

  /** Searches one portion of the records of users. @returns ids of users whose record may contain the text */
  async function byRecord(cursor: string, wanted: string) {
    const [next, bytes, ...ids] = await scripts.values('search_users', keys.base, {
      cursor,
      count: recordsAStep,
      ...needlesOf(wanted),
    });
    const average = Number(bytes) / recordsAStep;
    // An empty portion has the average 0.
    const fitting = Math.round(BYTES_A_STEP / Math.max(1, average));
    recordsAStep = Math.min(MOST_RECORDS, Math.max(FEWEST_RECORDS, fitting));
    return { next: String(next), ids: ids as string[] };
  }

  /** Reads the names of resources from their records: few records at once, because they are much larger than names. */
  async function read(
    kind: Kind,
    ids: string[],
    isHit: (id: string, names: StoredNames) => boolean,
  ): Promise<NamedResource[]> {
    const found: NamedResource[] = [];
    for (let at = 0; at < ids.length;) {
      const { records: stored, read: count } = await portion(kind, ids.slice(at), BYTES_A_STEP);
      at += count;
      for (const { id, text } of stored) {
        const names = JSON.parse(text) as StoredNames;
        if (isHit(id, names)) found.push(named(kind, id, names));
      }
    }
    return found;
  }

  /**
   * Runs one step. A place is `phase.cursor`, with a position in PHASES.
   * @param place `next` of the step before; `''` at the beginning
   * @param text part of a name, an address or an id
   * @param hits number of hits so far
   */
  async function step(place: string, text: string, hits: number): Promise<NameSearchStep> {
    const [, position = '0', cursor = '0'] = /^([0-2])[.](\d+)$/.exec(place) ?? [];
    const phase = PHASES[Number(position)] ?? 'records';
    const wanted = fold(text);
    const { next, ids } =
      phase === 'records' ? await byRecord(cursor, wanted) : await byKey(phase, cursor, wanted, hits);
    const isHit = phase === 'records' ? hasTextBesideUserName(wanted) : () => true;
    const found = await read(phase === 'displayNames' ? 'Group' : 'User', ids, isHit);
    const isPhaseOver = next === '0';
    if (isPhaseOver && phase === 'records') return { found, next: undefined };
    return { found, next: isPhaseOver ? `${Number(position) + 1}.0` : `${position}.${next}` };
  }

  return { step };
}

/** Returns whether a place has the form that `step` returns. */
export const isSearchPlace = (place: string): boolean => place === '' || /^[0-2][.]\d{1,20}$/.test(place);

/**
 * Returns the texts for which Redis searches the records. Redis folds ASCII only, so it gets the longest run of plain
 * characters, else three spellings.
 */
function needlesOf(wanted: string): { needles: string[]; folded: boolean } {
  const [longest = ''] = (wanted.match(PLAIN_RUN) ?? []).sort((one, other) => other.length - one.length);
  if (longest.length > 0) return { needles: [longest], folded: true };
  const [first = '', ...rest] = wanted;
  return { needles: [wanted, wanted.toUpperCase(), first.toUpperCase() + rest.join('')], folded: false };
}

/** Returns a test whether a user has the text elsewhere than in the userName; the first phase finds users by the userName. */
const hasTextBesideUserName =
  (wanted: string) =>
  (id: string, { userName, displayName, nickName, externalId, name, emails }: StoredNames): boolean => {
    const has = (value: string | undefined): boolean => value !== undefined && fold(value).includes(wanted);
    if (has(userName)) return false;
    const others = [id, displayName, nickName, externalId, name?.formatted];
    return (
      others.some(has) ||
      has(`${name?.givenName ?? ''} ${name?.familyName ?? ''}`) ||
      (emails ?? []).some(({ value }) => has(value))
    );
  };

function named(
  kind: Kind,
  id: string,
  { userName, displayName, emails, active }: StoredNames,
): NamedResource {
  const ref = refOf(kind, id);
  if (kind === 'Group') return { kind, ref, name: displayName ?? id };
  const mail = (emails?.find(({ primary }) => primary) ?? emails?.[0])?.value;
  return {
    kind,
    ref,
    name: userName ?? id,
    active: active !== false,
    ...(displayName === undefined ? {} : { displayName }),
    ...(mail === undefined ? {} : { mail }),
  };
}
