// Reads stored links with their marks, as a comparison observes them, and returns the parsed links.
import { parseLink, type Link } from '../../directory/outbox/link.ts';
import type { Ref } from '../../directory/records.ts';
import type { ReconcileScope } from '../scope.ts';

/** Returns the stored links of the refs. */
export async function observedLinks(
  drifts: ReconcileScope['drifts'],
  refs: readonly Ref[],
): Promise<Map<Ref, Link>> {
  const observed = await drifts.readLinks(refs);
  return new Map(observed.map(({ ref, text }) => [ref, parseLink(text)]));
}
