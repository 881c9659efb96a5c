// Holds the tokens of one connection in memory: those of the settings and those of Redis as last read.
import { hash, timingSafeEqual } from 'node:crypto';
import type { StoredToken } from '../directory/stored-tokens.ts';
import type { Bucket } from '../support/limits.ts';
import { digestOf, hasTokenPrefix } from './secret.ts';

export interface SettingsToken {
  name: string;
  secret: string;
  /** Expiry, RFC 3339. */
  expiresAt?: string;
}

interface KeyringToken {
  readonly name: string;
  readonly source: 'settings' | 'stored';
  /** Unix milliseconds; Infinity: never. */
  readonly expiresAt: number;
  /** Last use in this process, Unix milliseconds; 0: none. */
  lastUsedAt: number;
  /** Rate limit of the requests with this token. */
  readonly budget: Bucket;
}

/**
 * `compared`: bytes for comparison with a presented token: of a token in the settings the secret (`toBlock`), of one in Redis the
 * digest.
 */
type TokenEntry = KeyringToken & { compared: Buffer };

const SHA256_BYTES = 32;
const BLOCK_BYTES = 256;
/** Position of the length of the secret, two bytes at the end of the block. */
const LENGTH_AT = BLOCK_BYTES - 2;

/** Converts a secret to a block of fixed length, so that a comparison takes constant time. */
function toBlock(text: string, block = Buffer.alloc(BLOCK_BYTES)): Buffer {
  block.fill(0);
  // A UTF-16 code unit takes at most three bytes. A longer text is hashed.
  const fits = text.length <= LENGTH_AT / 3;
  const length = fits ? block.write(text) : hash('sha256', text, 'buffer').copy(block);
  // The length distinguishes a secret from the same secret with trailing zeros. No secret that fits has the length of a hashed one.
  block.writeUInt16BE(fits ? length : BLOCK_BYTES, LENGTH_AT);
  return block;
}

export type Keyring = ReturnType<typeof createKeyring>;

export function createKeyring(newBudget: () => Bucket) {
  // All requests can share one block, because a comparison is synchronous.
  const scratch = Buffer.alloc(BLOCK_BYTES);
  let settings: TokenEntry[] = [];
  let stored: TokenEntry[] = [];
  let isComplete = false;

  /** Returns a token that was just read, with the rate limit and last use that the same token had before; new ones otherwise. */
  function withUse(before: TokenEntry[], token: Omit<TokenEntry, 'lastUsedAt' | 'budget'>): TokenEntry {
    const same = before.find(({ name, compared }) => name === token.name && compared.equals(token.compared));
    return { ...token, lastUsedAt: same?.lastUsedAt ?? 0, budget: same?.budget ?? newBudget() };
  }

  /** Compares with all tokens, so that the time does not depend on the position of the matching one. */
  function matchIn(tokens: TokenEntry[], compared: Buffer, now: number): TokenEntry | undefined {
    let found: TokenEntry | undefined;
    for (const token of tokens) {
      if (timingSafeEqual(token.compared, compared) && token.expiresAt > now) found = token;
    }
    return found;
  }

  return {
    /**
     * Returns the token that was presented; undefined when it is unknown or expired. How long the search takes does not depend on
     * the secret.
     */
    find(presented: string, now: number): KeyringToken | undefined {
      const found = matchIn(settings, toBlock(presented, scratch), now);
      return found || !hasTokenPrefix(presented) ? found : matchIn(stored, digestOf(presented), now);
    },
    /** False until `setStored` was called once: before, an unknown token may be one of Redis. */
    get isComplete(): boolean {
      return isComplete;
    },
    /** Replaces the tokens of the settings. */
    setSettings(tokens: readonly SettingsToken[]): void {
      settings = tokens.map(({ name, secret, expiresAt }) => {
        const end = expiresAt === undefined ? Infinity : Date.parse(expiresAt);
        return withUse(settings, { name, source: 'settings', expiresAt: end, compared: toBlock(secret) });
      });
    },
    /** Replaces the tokens of Redis. */
    setStored(tokens: readonly StoredToken[]): void {
      stored = tokens.flatMap(({ name, digest, expiresAt }) => {
        const compared = Buffer.from(digest, 'base64url');
        // Tokens with a damaged digest are left out: the comparison throws for bytes of another length.
        if (compared.length !== SHA256_BYTES) return [];
        return [withUse(stored, { name, source: 'stored', expiresAt: expiresAt ?? Infinity, compared })];
      });
      isComplete = true;
    },
    all: (): readonly KeyringToken[] => [...settings, ...stored],
  };
}
