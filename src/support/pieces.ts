// Long texts on their way, in pieces of a size that is worth a write.

/** Joins small texts, so that each piece but the last has at least `bytes` bytes. */
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
