// Settings whose feature is not built yet. Whoever builds one deletes its lines here; nothing else knows the list.
import type { ConfigFault } from './faults.ts';
import { select } from './places.ts';

interface Unbuilt {
  /** Pattern of the setting, see places.ts. */
  at: string;
  /** Does this value ask for nothing? Then it is fine. */
  inactive: (value: unknown) => boolean;
  /** What to do instead. Present = the setting is refused, because ignoring it would be unsafe. */
  refusedWith?: string;
}

const UNBUILT: readonly Unbuilt[] = [];

/** Faults of settings that must not be ignored silently, and paths of those that only have no effect yet. */
export function checkAvailability(given: unknown): { faults: ConfigFault[]; notYetInEffect: string[] } {
  const faults: ConfigFault[] = [];
  const notYetInEffect: string[] = [];
  for (const { at, inactive, refusedWith } of UNBUILT) {
    for (const { path, value } of select(given, at)) {
      if (inactive(value)) continue;
      if (refusedWith === undefined) notYetInEffect.push(path);
      else faults.push({ path, message: `This is not available yet. ${refusedWith}` });
    }
  }
  return { faults, notYetInEffect };
}
