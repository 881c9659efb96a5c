// A Bloom filter: a set of texts that takes a fixed amount of memory, and may contain a text that was never added.

/** Bits of the filter per text. */
const BITS_PER_TEXT = 16;
/** Number of bits that each text sets. */
const HASHES = 8;
/** Fewest bits of a filter. */
const LEAST_BITS = 1024;

/**
 * A set of texts in fixed memory. Every added text is found. Of the texts that were not added, about one in two thousand is a
 * false positive.
 */
export interface BloomFilter {
  add(text: string): void;
  /** Returns false only for a text that was not added. */
  mayHave(text: string): boolean;
}

/** Creates an empty filter. @param capacity expected number of texts; with more texts, false positives become more frequent */
export function createBloomFilter(capacity: number): BloomFilter {
  const bits = Math.max(LEAST_BITS, Math.ceil(capacity) * BITS_PER_TEXT);
  const bytes = new Uint8Array(Math.ceil(bits / 8));

  /** Calls `visit` with the bit positions of a text until it returns false. */
  function visitAll(text: string, visit: (bit: number) => boolean): boolean {
    // Two hashes with different seeds give all positions: the first one, and the step from each to the next. The step is odd, so
    // it is never 0.
    const first = hash(text, FNV_OFFSET);
    const step = hash(text, FNV_PRIME) | 1;
    for (let index = 0; index < HASHES; index++)
      if (!visit(((first + index * step) >>> 0) % bits)) return false;
    return true;
  }

  return {
    add: (text) => {
      visitAll(text, (bit) => {
        // Eight bits for each byte: `>>> 3` is the byte, `& 7` the bit in it.
        bytes[bit >>> 3] = (bytes[bit >>> 3] ?? 0) | (1 << (bit & 7));
        return true;
      });
    },
    mayHave: (text) => visitAll(text, (bit) => ((bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0),
  };
}

/** Constants of the hash function FNV-1a for 32 bits. */
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a with the final mix of MurmurHash3, 32 bits. */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let index = 0; index < text.length; index++)
    value = Math.imul(value ^ text.charCodeAt(index), FNV_PRIME);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
