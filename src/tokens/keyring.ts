// Holds the tokens of one connection in memory: those of the settings and those of Redis as last read.
import { hash, timingSafeEqual } from 'node:crypto';
import type { StoredToken } from '../directory/stored-tokens.ts';
import type { Bucket } from '../support/limits.ts';
import { digestOf, isMarked } from './secret.ts';

/** A token in the settings. */
export interface SettingsToken {
  name: string;
  secret: string;
  /** Expiry, RFC 3339. */
  expiresAt?: string;
}

/** A token of the keyring. */
export interface HeldToken {
  readonly name: string;
  readonly source: 'settings' | 'stored';
  /** Unix milliseconds; Infinity: never. */
  readonly expiresAt: number;
  /** Last use in this process, Unix milliseconds; 0: none. */
  lastUsedAt: number;
  readonly budget: Bucket;
}

export interface Keyring {
  /** Returns the presented token; undefined when it is unknown or expired. Takes the same time in all cases. */
  find(presented: string, now: number): HeldToken | undefined;
  /** False until the stored tokens were read once; a token of Redis cannot be checked before. */
  readonly isComplete: boolean;
  setSettings(tokens: readonly SettingsToken[]): void;
  setStored(tokens: readonly StoredToken[]): void;
  all(): readonly HeldToken[];
}

type Held = HeldToken & { proof: Buffer };

const FRAME_BYTES = 256;
const LONGEST = FRAME_BYTES - 2;

/** Converts a secret to a block of fixed length, so that a comparison takes constant time. */
function frame(text: string, block = Buffer.alloc(FRAME_BYTES)): Buffer {
  block.fill(0);
  const fits = text.length <= LONGEST / 3;
  const length = fits ? block.write(text) : hash('sha256', text, 'buffer').copy(block);
  // The length at the end distinguishes a secret from the same secret with trailing zeros.
  block.writeUInt16BE(fits ? length : FRAME_BYTES, LONGEST);
  return block;
}

export function createKeyring(newBudget: () => Bucket): Keyring {
  // All requests share one block, because a comparison is synchronous.
  const scratch = Buffer.alloc(FRAME_BYTES);
  let settings: Held[] = [];
  let stored: Held[] = [];
  let isComplete = false;

  /** The rate limit of a token survives a reload. */
  function hold(before: Held[], token: Omit<Held, 'lastUsedAt' | 'budget'>): Held {
    const same = before.find(({ name, proof }) => name === token.name && proof.equals(token.proof));
    return { ...token, lastUsedAt: same?.lastUsedAt ?? 0, budget: same?.budget ?? newBudget() };
  }

  /** Compares with all tokens, so that the time does not depend on the matching one. */
  function among(tokens: Held[], proof: Buffer, now: number): Held | undefined {
    let found: Held | undefined;
    for (const token of tokens) {
      if (timingSafeEqual(token.proof, proof) && token.expiresAt > now) found = token;
    }
    return found;
  }

  return {
    find(presented, now) {
      const found = among(settings, frame(presented, scratch), now);
      return found || !isMarked(presented) ? found : among(stored, digestOf(presented), now);
    },
    get isComplete() {
      return isComplete;
    },
    setSettings(tokens) {
      settings = tokens.map(({ name, secret, expiresAt }) => {
        const end = expiresAt === undefined ? Infinity : Date.parse(expiresAt);
        return hold(settings, { name, source: 'settings', expiresAt: end, proof: frame(secret) });
      });
    },
    setStored(tokens) {
      stored = tokens.flatMap(({ name, digest, expiresAt }) => {
        const proof = Buffer.from(digest, 'base64url');
        if (proof.length !== 32) return [];
        return [hold(stored, { name, source: 'stored', expiresAt: expiresAt ?? Infinity, proof })];
      });
      isComplete = true;
    },
    all: () => [...settings, ...stored],
  };
}
