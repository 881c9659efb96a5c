// Removes observed values from a link. A comparison notes them; they are out of date once the value was read or written.
import type { Link } from '../directory/outbox/links.ts';

/** Removes the observed values of some names from a link, and returns them. */
export function takeObserved(link: Link, names: readonly string[]): Record<string, unknown> {
  const taken: Record<string, unknown> = {};
  const left: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(link.observed ?? {})) {
    if (names.includes(name)) taken[name] = value;
    else left[name] = value;
  }
  if (Object.keys(left).length > 0) link.observed = left;
  else delete link.observed;
  return taken;
}

/** Removes a name from the unsure names of a link, and its observed value. */
export function forgetObserved(link: Link, name: string): void {
  const unsure = (link.unsure ?? []).filter((each) => each !== name);
  if (unsure.length > 0) link.unsure = unsure;
  else delete link.unsure;
  takeObserved(link, [name]);
}
