// Implements DELETE of a user or a group (RFC 7644 §3.6).
import type { Kind } from '../directory/records.ts';
import type { Answer, ProviderDeps, RequestContext } from './context.ts';
import { contended, missing, requireMatch, toStored, WRITE_ATTEMPTS } from './answers.ts';

/** Deletes the resource; with If-Match only the version that the header names. @throws 404, 412 */
export async function removeResource(
  { directory, clock }: ProviderDeps,
  kind: Kind,
  id: string,
  context: RequestContext,
): Promise<Answer> {
  const removal = { id, now: clock.now(), request: context.request };
  for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt++) {
    let expected: number | undefined;
    if (context.ifMatch !== undefined) {
      const record = await directory.get(kind, id);
      if (!record) throw missing(kind, id);
      requireMatch(record, context);
      expected = record.version;
    }
    // `toStored` returns undefined when another write came between; then the removal is tried again.
    if (toStored(kind, id, await directory.remove(kind, { ...removal, expected }))) return { status: 204 };
  }
  throw contended();
}
