// Searches the users and groups of all connections by a part of a name, an address or an id, for a bounded time.
import type { DesiredState } from '../directory/desired-state.ts';
import { isSearchPlace } from '../directory/resources/search.ts';
import type { Kind, Ref, StoredRecord } from '../directory/records.ts';
import type { Clock } from '../support/sources.ts';

export interface SearchHit {
  connection: string;
  kind: Kind;
  ref: Ref;
  /** userName of a user, displayName of a group. */
  name: string;
  /** Only of a user. */
  displayName?: string;
  mail?: string;
  active?: boolean;
}

/** `next`: the place to go on; null when everything was looked at. */
export interface SearchPage {
  found: SearchHit[];
  next: string | null;
}

/** Time after which a search answers with what it has. */
const TIME_MS = 120;

/** Returns whether a place comes from a page of a search. */
export function isPlaceOfSearch(place: string, states: readonly DesiredState[]): boolean {
  const [, index = '', rest = ''] = /^(\d{1,6})-(.*)$/.exec(place) ?? [];
  return index !== '' && Number(index) < states.length && isSearchPlace(rest);
}

/**
 * @param place `next` of the page before; undefined at the beginning
 * @param limit number of hits after which the page ends; the last step may have more
 */
export async function search(
  states: readonly DesiredState[],
  clock: Clock,
  { text, place = '0-', limit, signal }: { text: string; place?: string; limit: number; signal: AbortSignal },
): Promise<SearchPage> {
  const end = clock.now() + TIME_MS;
  const found: SearchHit[] = [];
  const dash = place.indexOf('-');
  let index = Number(place.slice(0, dash));
  let at = place.slice(dash + 1);
  for (let state = states[index]; state; state = states[index]) {
    const { connection } = state;
    const step = await state.directory.search(at, text, found.length);
    found.push(...step.found.map(({ ref, record }) => hitOf(connection, ref, record)));
    if (step.next === undefined) index += 1;
    at = step.next ?? '';
    if (found.length >= limit || clock.now() >= end || signal.aborted) break;
  }
  return { found, next: index < states.length ? `${index}-${at}` : null };
}

/** Part of a stored resource, which was checked before it was stored. */
interface StoredNames {
  userName?: string;
  displayName?: string;
  emails?: { value?: string; primary?: boolean }[];
  active?: boolean;
}

function hitOf(connection: string, ref: Ref, { id, text }: StoredRecord): SearchHit {
  const { userName, displayName, emails, active } = JSON.parse(text || '{}') as StoredNames;
  if (ref.startsWith('Group:')) return { connection, kind: 'Group', ref, name: displayName ?? id };
  const mail = (emails?.find(({ primary }) => primary) ?? emails?.[0])?.value;
  return {
    ...{ connection, kind: 'User', ref, name: userName ?? id, active: active !== false },
    ...(displayName === undefined ? {} : { displayName }),
    ...(mail === undefined ? {} : { mail }),
  };
}
