// Forgets what a comparison saw at the platform, once the link holds the value.
import type { Link } from '../directory/outbox/links.ts';

/** The name is neither unsure any more, nor has it an observed value. */
export function forgetObserved(link: Link, name: string): void {
  const unsure = (link.unsure ?? []).filter((each) => each !== name);
  if (unsure.length > 0) link.unsure = unsure;
  else delete link.unsure;
  const { [name]: _value, ...observed } = link.observed ?? {};
  if (Object.keys(observed).length > 0) link.observed = observed;
  else delete link.observed;
}
