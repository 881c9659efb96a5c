// Suggests the profile that fits the accepted deviations of a client.
import { deviations, profileOf, type DeviationName, type ProfileName } from './profiles.ts';

/** How often each deviation was accepted. */
export type DeviationCounts = ReadonlyMap<DeviationName, number>;

const ENOUGH = 5;
const HINTS = new Map(deviations.map(({ name, hint }) => [name, hint]));

/**
 * Returns the profile of the provider that the deviations indicate, once they occurred often enough; `lenient` when they
 * indicate several providers or one without profile. The profile accepts all deviations seen. Returns undefined while
 * the evidence is not sufficient.
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
