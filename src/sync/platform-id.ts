// Returns the platform id of a resource in the steps of a sync that come after its account or group was found or created.
import type { Link } from '../directory/outbox/links.ts';

/** @throws Error for a resource without link: no call may be sent with an empty id, because its path would be that of the list */
export function platformIdOf({ id }: Link): string {
  if (id === undefined) throw new Error('this step of a sync needs a linked account or group');
  return id;
}
