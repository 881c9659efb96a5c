// Finds the changes at a target that fail again and again, while the platform answers other calls.
import type { DesiredState } from '../../directory/desired-state.ts';
import { failingChange, failingWords } from '../../reconcile/unwritten/put-off.ts';
import { counted } from '../../support/counted.ts';
import { findingsByTarget, findingFor, type DoctorFinding } from '../doctor/doctor-finding.ts';
import { isoTime } from '../../support/sources.ts';

/** Number of waiting resources that are looked at, in the order of their syncs. */
const MOST_READ = 1000;

/**
 * Returns a sentence part about the failing changes and the reason of the oldest one; undefined: no change fails. If more resources
 * wait than are looked at, the number is a lower bound.
 */
export async function failingText(
  { directory, links, outboxes }: Pick<DesiredState, 'directory' | 'links' | 'outboxes'>,
  target: string,
): Promise<string | undefined> {
  const waiting = (await outboxes.get(target)?.waiting({ offset: 0, limit: MOST_READ })) ?? [];
  const refs = waiting.map(({ ref }) => ref);
  const found = await links.getMany(target, refs);
  const failing = refs
    .flatMap((ref, index) => failingChange(ref, found[index] ?? {}))
    .sort((one, other) => one.since - other.since);
  const [first] = failing;
  if (!first) return undefined;
  const least = waiting.length === MOST_READ ? 'at least ' : '';
  const fail = failing.length === 1 ? 'fails' : 'fail';
  return `${least}${counted(failing.length, 'change')} ${fail} since ${isoTime(first.since)}: ${await failingWords(directory, failing)}`;
}

/** Returns one warning for each target with failing changes. */
export const failingFindings = (states: readonly DesiredState[]): Promise<DoctorFinding[]> =>
  findingsByTarget(states, async (state, target) => {
    const message = await failingText(state, target);
    if (message === undefined) return undefined;
    const advice = 'It is tried again; if it stays, ask the operator of the platform.';
    return findingFor(`sync ${state.connection} → ${target}`).warning(message, advice);
  });
