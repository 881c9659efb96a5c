// Keeps a set of texts in fixed memory as a Bloom filter. Every added text is found. Of the texts that were not added, about
// one in two thousand is found by mistake.

export interface BloomFilter {
  add(text: string): void;
  /** Returns false only for a text that was not added. */
  mayHave(text: string): boolean;
}

const BITS_PER_TEXT = 16;
const HASHES = 8;

/** Creates an empty filter. @param capacity expected number of texts; with more texts, more are found by mistake */
export function createBloomFilter(capacity: number): BloomFilter {
  const bits = Math.max(1024, Math.ceil(capacity) * BITS_PER_TEXT);
  const bytes = new Uint8Array(Math.ceil(bits / 8));

  /** Calls `visit` with the bit positions of a text until it returns false. */
  function visitAll(text: string, visit: (bit: number) => boolean): boolean {
    const first = hash(text, 0x811c9dc5);
    const second = hash(text, 0x01000193) | 1;
    for (let index = 0; index < HASHES; index++)
      if (!visit(((first + index * second) >>> 0) % bits)) return false;
    return true;
  }

  return {
    add: (text) => {
      visitAll(text, (bit) => {
        bytes[bit >>> 3] = (bytes[bit >>> 3] ?? 0) | (1 << (bit & 7));
        return true;
      });
    },
    mayHave: (text) => visitAll(text, (bit) => ((bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0),
  };
}

/** FNV-1a with a final mix, 32 bits. */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let index = 0; index < text.length; index++)
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
