// Which named profile fits a client, told from the deviations that were accepted for it.
import { deviations, profileOf, type DeviationName, type ProfileName } from './profiles.ts';

/** How often each deviation was accepted. */
export type DeviationCounts = ReadonlyMap<DeviationName, number>;

const ENOUGH = 5;
const HINTS = new Map(deviations.map(({ name, hint }) => [name, hint]));

/**
 * The profile of the provider whose habits were seen, once they were seen often enough; `lenient` when they are those
 * of several providers, or of one that has no profile. It accepts all that was seen. Undefined while nothing is clear:
 * a client without habits may be anybody.
 */
export function suggestProfile(counts: DeviationCounts): ProfileName | undefined {
  const votes = new Map<ProfileName, number>();
  for (const [kind, count] of counts) {
    const hint = HINTS.get(kind);
    if (hint) votes.set(hint, (votes.get(hint) ?? 0) + count);
  }
  const clear = [...votes].filter(([, count]) => count >= ENOUGH).map(([name]) => name);
  const [first] = clear;
  if (!first) return undefined;
  const profile = profileOf(first);
  const fits = clear.length === 1 && [...counts.keys()].every((kind) => profile.allows(kind));
  return fits ? first : 'lenient';
}
