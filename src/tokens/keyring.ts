// The tokens that open one connection, as this process knows them: those of the settings, and those of Redis as last read.
import { hash, timingSafeEqual } from 'node:crypto';
import type { StoredToken } from '../directory/stored-tokens.ts';
import type { Bucket } from '../support/limits.ts';
import { digestOf, isMarked } from './secret.ts';

/** A token as written in the settings. */
export interface SettingsToken {
  name: string;
  secret: string;
  /** RFC 3339; the token is refused from then on. */
  expiresAt?: string;
}

/** A token that may be presented. */
export interface HeldToken {
  readonly name: string;
  readonly source: 'settings' | 'stored';
  /** Unix milliseconds; Infinity = never. */
  readonly expiresAt: number;
  /** Unix milliseconds, as far as this process saw it; 0 = not yet. */
  lastUsedAt: number;
  readonly budget: Bucket;
}

export interface Keyring {
  /** The token that was presented, unless it is unknown or over. Takes the same time whatever is wrong with it. */
  find(presented: string, now: number): HeldToken | undefined;
  /** False while Redis has not been read since the start: a token of Redis cannot be checked then. */
  readonly isComplete: boolean;
  setSettings(tokens: readonly SettingsToken[]): void;
  setStored(tokens: readonly StoredToken[]): void;
  all(): readonly HeldToken[];
}

type Held = HeldToken & { proof: Buffer };

const FRAME_BYTES = 256;
const LONGEST = FRAME_BYTES - 2;

/** Secrets of any length as blocks of one length, so that comparing takes the same time whatever they are. */
function frame(text: string, block = Buffer.alloc(FRAME_BYTES)): Buffer {
  block.fill(0);
  const fits = text.length <= LONGEST / 3;
  const length = fits ? block.write(text) : hash('sha256', text, 'buffer').copy(block);
  // The length stands at the end: a secret with zeros behind it is another one.
  block.writeUInt16BE(fits ? length : FRAME_BYTES, LONGEST);
  return block;
}

export function createKeyring(newBudget: () => Bucket): Keyring {
  // One block for all requests: a comparison is over before the next one begins.
  const scratch = Buffer.alloc(FRAME_BYTES);
  let settings: Held[] = [];
  let stored: Held[] = [];
  let isComplete = false;

  /** The rate limit of a token survives a reload. */
  function hold(before: Held[], token: Omit<Held, 'lastUsedAt' | 'budget'>): Held {
    const same = before.find(({ name, proof }) => name === token.name && proof.equals(token.proof));
    return { ...token, lastUsedAt: same?.lastUsedAt ?? 0, budget: same?.budget ?? newBudget() };
  }

  /** Looks at all of them, so that the place of the right one does not show. */
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
