// Searches the users and groups of all connections by a part of a name, an address or an id, for a bounded time.
import type { DesiredState } from '../directory/desired-state.ts';
import { isSearchPlace, type NamedResource } from '../directory/resources/search.ts';
import type { Clock } from '../support/sources.ts';

type SearchHit = NamedResource & { connection: string };

/** `next`: place of the next page; null at the end. */
interface SearchPage {
  found: SearchHit[];
  next: string | null;
}

/** Time after which a search returns the hits so far. */
const TIME_MS = 120;

/** Returns whether a place comes from a page of a search. */
export function isPlaceOfSearch(place: string, states: readonly DesiredState[]): boolean {
  const [, index = '', rest = ''] = /^(\d{1,6})-(.*)$/.exec(place) ?? [];
  return index !== '' && Number(index) < states.length && isSearchPlace(rest);
}

/**
 * Searches from a place on, connection by connection. A place is `<index of the connection>-<place in its directory>`; the
 * beginning of a directory is the empty place. The number of hits so far decides how much the next step reads.
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
  let placeInDirectory = place.slice(dash + 1);
  for (let state = states[index]; state; state = states[index]) {
    const { connection } = state;
    const step = await state.directory.search(placeInDirectory, text, found.length);
    found.push(...step.found.map((each) => ({ connection, ...each })));
    if (step.next === undefined) index += 1;
    placeInDirectory = step.next ?? '';
    if (found.length >= limit || clock.now() >= end || signal.aborted) break;
  }
  return { found, next: index < states.length ? `${index}-${placeInDirectory}` : null };
}
