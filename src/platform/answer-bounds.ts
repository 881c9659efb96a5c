// Limits how much of one answer is read and parsed, so that no answer can exhaust the memory of the process.
import { scanJson } from '../support/limits.ts';
import type { AnswerBounds, Family, PlatformRequest } from './request.ts';

const MEGABYTE = 1024 * 1024;
const MAX_DEPTH = 32;
const DEFAULT: AnswerBounds = { maxBytes: 8 * MEGABYTE, maxDepth: MAX_DEPTH, maxStructure: 500_000 };
/** Larger than any value that the bridge writes: 64,000 characters of up to four bytes. */
const MAX_SCIM_TEXT = 256 * 1024;
/** Larger, because the size of a query result depends on the query. */
const RESULTS: AnswerBounds = { maxBytes: 16 * MEGABYTE, maxDepth: MAX_DEPTH, maxStructure: 2_000_000 };

const BOUNDS: Record<Family, AnswerBounds> = {
  scim: { ...DEFAULT, maxText: MAX_SCIM_TEXT },
  rest: DEFAULT,
  data: RESULTS,
  chat: RESULTS,
};

/** Allows a group with about 150,000 members; the platform returns all members in one answer. */
export const MEMBERS_BOUNDS: AnswerBounds = {
  maxBytes: 16 * MEGABYTE,
  maxDepth: MAX_DEPTH,
  maxStructure: 1_000_000,
  maxText: MAX_SCIM_TEXT,
};

/** An error body is read up to this size; its message is shortened further. */
export const REFUSAL_BYTES = 64 * 1024;

/** Returns the limits of a request: its own, or those of its API family. */
export const boundsOf = ({
  family,
  bounds,
}: Pick<PlatformRequest<unknown>, 'family' | 'bounds'>): AnswerBounds => bounds ?? BOUNDS[family];

/** Returns the whole body, or the first `maxBytes` bytes of a longer one, whose connection is closed. */
export async function readAtMost(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop destroys the body and closes the connection.
    if (length > maxBytes) return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isWhole: false };
  }
  return { bytes: Buffer.concat(chunks), isWhole: true };
}

/** Returns the reason why the bytes must not be parsed, or undefined. */
export const tooMuchIn = (bytes: Uint8Array, bounds: AnswerBounds): string | undefined => {
  const fault = scanJson(bytes, bounds);
  return fault && `the answer ${fault.reason}`;
};
