// Suggests the profile that fits the accepted deviations of a client.
import { deviations, profileOf, type DeviationName, type ProfileName } from './profiles.ts';

/** How often each deviation was accepted. */
export type DeviationCounts = ReadonlyMap<DeviationName, number>;

/** Number of deviations of one provider that are enough evidence. */
const ENOUGH = 5;
const HINTS = new Map(deviations.map(({ name, hint }) => [name, hint]));

/**
 * Returns the profile of the provider that the deviations indicate. Returns `lenient` when they indicate several
 * providers, or when that profile would refuse one of the deviations. Returns undefined while the evidence is not
 * sufficient.
 */
export function suggestProfile(counts: DeviationCounts): ProfileName | undefined {
  const votes = new Map<ProfileName, number>();
  for (const [deviation, count] of counts) {
    const hint = HINTS.get(deviation);
    if (hint) votes.set(hint, (votes.get(hint) ?? 0) + count);
  }
  const indicated = [...votes].filter(([, count]) => count >= ENOUGH).map(([name]) => name);
  const [first] = indicated;
  if (!first) return undefined;
  const profile = profileOf(first);
  const fits = indicated.length === 1 && [...counts.keys()].every((deviation) => profile.allows(deviation));
  return fits ? first : 'lenient';
}
