// Reads a body of HTTP with a limit of its size.

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

/** Reads the body of an answer of `fetch`, as readAtMost. */
export const readAnswerAtMost = ({ body }: Response, maxBytes: number) =>
  readAtMost((body ?? []) as AsyncIterable<Uint8Array>, maxBytes);
