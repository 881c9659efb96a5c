// Joins short texts into pieces that are large enough for one write.

/** Yields pieces of at least `bytes` bytes; the last one may be shorter. Counts characters, which take a byte or more. */
export function* inPieces(texts: Iterable<string>, bytes = 65_536): Generator<Buffer> {
  let waiting: string[] = [];
  let length = 0;
  for (const text of texts) {
    waiting.push(text);
    length += text.length;
    if (length < bytes) continue;
    yield Buffer.from(waiting.join(''));
    waiting = [];
    length = 0;
  }
  if (length > 0) yield Buffer.from(waiting.join(''));
}
