// Returns the platform id of a resource in the steps of a sync that come after its account or group was found or created.
import type { Link } from '../directory/outbox/links.ts';

/** @throws Error for a resource without link, which is a bug: the sync ends, and its mark is delivered again after the lease */
export function platformIdOf({ id }: Link): string {
  if (id === undefined) throw new Error('this step of a sync needs a linked account or group');
  return id;
}
