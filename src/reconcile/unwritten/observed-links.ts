// Reads the stored links of resources as a comparison does (`DriftNotes.readLinks`), for files that need the parsed links by ref.
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
