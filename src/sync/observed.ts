// Forgets what a comparison saw at the platform: once the link holds the value, or a write of it was sent.
import type { Link } from '../directory/outbox/links.ts';

/** Removes the observed values of some names from a link, and returns them. */
export function takeObserved(link: Link, names: readonly string[]): Record<string, unknown> {
  const taken: Record<string, unknown> = {};
  const left: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(link.observed ?? {}))
    (names.includes(name) ? taken : left)[name] = value;
  if (Object.keys(left).length > 0) link.observed = left;
  else delete link.observed;
  return taken;
}

/** The name is neither unsure any more, nor has it an observed value. */
export function forgetObserved(link: Link, name: string): void {
  const unsure = (link.unsure ?? []).filter((each) => each !== name);
  if (unsure.length > 0) link.unsure = unsure;
  else delete link.unsure;
  takeObserved(link, [name]);
}
