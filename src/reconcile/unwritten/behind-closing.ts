// Names the values and memberships of a person that wait for the held deactivation of the same person. Pure.
import type { Ref } from '../../directory/records.ts';
import { someOf } from '../../support/sentence-parts.ts';
import type { PlanEntry } from '../entry.ts';
import { isValue } from './unwritten.ts';
import { HELD_BY_GUARD, MEMBERSHIP_WAITS } from './unwritten-reasons.ts';

/**
 * Returns, by person, a text about the values and memberships that wait for the held deactivation of the same person.
 * @param entries of a plan after `withoutUnwritten`, which has given the effect `report` to entries that no sync would write
 */
export function waitingBehindClosing(entries: readonly PlanEntry[]): Map<Ref, string> {
  const names = new Map<Ref, string[]>();
  for (const { action, ref, reason } of entries)
    if (action === 'deactivate' && ref && reason === HELD_BY_GUARD) names.set(ref, []);
  for (const entry of entries) if (isValue(entry)) names.get(entry.ref)?.push(entry.attribute);
  // Other additions that are only reported wait for something else, such as a group that needs a person.
  for (const { action, member, name, reason } of entries)
    if (action === 'addMember' && member?.ref && reason.endsWith(MEMBERSHIP_WAITS.held))
      names.get(member.ref)?.push(membershipIn(name));
  return new Map([...names].flatMap(([ref, found]) => (found.length > 0 ? [[ref, waitsText(found)]] : [])));
}

/** Returns a membership as a name for `waitsText`. */
export const membershipIn = (group: string): string => `the membership in ${group}`;

/** Largest number of names in `waitsText`. */
const MOST_WAITING = 10;

/** Returns a sentence without full stop about values and memberships that wait for the held deactivation of a person. */
export const waitsText = (names: readonly string[]): string =>
  `waiting for the decision about the deactivation: ${someOf(names, { most: MOST_WAITING })}`;
