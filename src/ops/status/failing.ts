// Finds the changes at a target that the platform answers with success and ignores again and again.
import type { DesiredState } from '../../directory/desired-state.ts';
import { parseRef } from '../../directory/records.ts';
import { counted } from '../../support/counted.ts';
import { findingsByTarget, findingFor, type DoctorFinding } from '../doctor/doctor-finding.ts';

/** Number of waiting resources that are looked at, in the order of their syncs. */
const MOST_READ = 1000;
/** Number of failed attempts from which a change counts as ignored: the first failure may be temporary. */
const LEAST_ATTEMPTS = 2;

/** Returns a sentence part about the ignored changes and the reason of the oldest one; undefined: no change is ignored. */
export async function failingText(
  { links, outboxes }: Pick<DesiredState, 'links' | 'outboxes'>,
  target: string,
): Promise<string | undefined> {
  const waiting = (await outboxes.get(target)?.waiting({ offset: 0, limit: MOST_READ })) ?? [];
  const refs = waiting.map(({ ref }) => ref);
  const found = await links.getMany(target, refs);
  const failing: { name: unknown; since: number; message: string }[] = [];
  for (const [index, ref] of refs.entries()) {
    const { attempts = 0, condition, core } = found[index] ?? {};
    if (condition?.reason !== 'NotApplied' || attempts < LEAST_ATTEMPTS) continue;
    const name = core?.userName ?? core?.displayName ?? parseRef(ref).id;
    failing.push({ name, since: condition.since, message: condition.message });
  }
  failing.sort((one, other) => one.since - other.since);
  const [first] = failing;
  if (!first) return undefined;
  const fail = failing.length === 1 ? 'fails' : 'fail';
  return `${counted(failing.length, 'change')} ${fail} since ${new Date(first.since).toISOString()}: ${String(first.name)}, ${first.message}`;
}

/** Returns one warning for each target that ignores changes. */
export const failingFindings = (states: readonly DesiredState[]): Promise<DoctorFinding[]> =>
  findingsByTarget(states, async (state, target) => {
    const message = await failingText(state, target);
    if (message === undefined) return undefined;
    const advice = 'It is tried again; if it stays, ask the operator of the platform.';
    return findingFor(`sync ${state.connection} → ${target}`).warning(message, advice);
  });
