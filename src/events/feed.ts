// Provides the events of one connection as signed tokens, for push and poll delivery.
import type { EventDelivery, EventStream, EventRefusal } from '../directory/logs/event-stream.ts';
import { eventIdOf, toClaims, type Claims } from './claims.ts';
import type { Slice } from '../support/pace.ts';
import { createPublicKey } from 'node:crypto';
import { calculateJwkThumbprint, SignJWT, type JWK } from 'jose';
import { parsePrivateKey, parsePublicKey, type SigningKey } from '../support/signing-key.ts';

interface FeedSettings extends KeySettings {
  issuer: string;
  audience: string;
  /** Age from which a pending event is deleted. */
  maxAgeMs: number;
}

/** A security event token (RFC 8417). */
export interface EventToken {
  /** Id of the token (claims.ts). */
  jti: string;
  /** Signed, in compact form. */
  text: string;
}

/** Number of tokens that are signed at the same time: more would occupy every processor of a small machine. */
const SIGNED_AT_ONCE = 8;

export type Feed = ReturnType<typeof createFeed>;

/** Creates the feed. @param deps.pace begins slices of work: short requests are served between two slices (support/pace.ts) */
export function createFeed(
  { stream, pace }: { stream: EventStream; pace: () => Slice },
  connection: string,
  settings: FeedSettings,
) {
  const signer = createSigner(settings);
  /** Returns a list with the id of the event in the stream; empty for a token of another connection. */
  const idsOf = (jti: string): string[] => {
    const id = eventIdOf(jti, connection);
    return id === undefined ? [] : [id];
  };
  return {
    connection,
    /** Returns the oldest pending tokens in order; they remain until they are acknowledged or refused. */
    next: async (count: number): Promise<EventToken[]> => {
      const { issuer, audience } = settings;
      const events = await stream.oldest(count);
      const tokens: EventToken[] = [];
      const slice = pace();
      while (tokens.length < events.length) {
        const portion = events.slice(tokens.length, tokens.length + SIGNED_AT_ONCE);
        const claims = portion.map((event) => toClaims(event, { connection, issuer, audience }));
        const signed = await Promise.all(
          claims.map(async (each) => ({ jti: each.jti, text: await signer.sign(each) })),
        );
        tokens.push(...signed);
        if (slice.isOver()) await slice.rest();
      }
      return tokens;
    },
    /** Removes delivered and refused tokens, given by `jti`, from the pending ones. Unknown ids are ignored. */
    acknowledge: async (
      acknowledged: readonly string[],
      refused: readonly (Omit<EventRefusal, 'id'> & { jti: string })[] = [],
    ): Promise<void> => {
      const refusals = refused.flatMap(({ jti, ...reason }) => idsOf(jti).map((id) => ({ id, ...reason })));
      await stream.acknowledge(acknowledged.flatMap(idsOf), refusals);
    },
    delivery: stream.delivery,
    /** Deletes expired events, and returns the counts as `delivery`. */
    expire: (): Promise<EventDelivery> => stream.expire(settings.maxAgeMs),
    keys: signer.keys,
  };
}

interface KeySettings {
  /** Private key that signs, PEM or JWK. */
  key: string;
  /** Further keys that are published, such as a former signing key; PEM or JWK. */
  otherKeys: readonly string[];
}

/** A parsed key with its id (`kid`, RFC 7638) and its public form. */
interface PreparedKey extends SigningKey {
  kid: string;
  jwk: JWK;
}

function createSigner(settings: KeySettings) {
  const signing = createReader(parsePrivateKey);
  const published = createReader(parsePublicKey);

  return {
    sign: async (claims: Claims): Promise<string> => {
      const { key, algorithm, kid } = await signing(settings.key);
      // The type distinguishes the token from other JWTs (RFC 8417 §2.3).
      const header = { alg: algorithm, kid, typ: 'secevent+jwt' };
      return new SignJWT({ ...claims }).setProtectedHeader(header).sign(key);
    },
    /** Returns the public keys (RFC 7517 §5) with which receivers verify tokens, first the one of the signing key. */
    keys: async (): Promise<{ keys: JWK[] }> => {
      const { key, otherKeys } = settings;
      const all = await Promise.all([signing(key), ...otherKeys.map(published)]);
      // The signing key may be among the other keys too, so each id is listed once.
      const byId = new Map(all.map(({ kid, jwk }) => [kid, jwk]));
      return { keys: [...byId.values()] };
    },
  };
}

/**
 * Returns a function that parses a key and caches it, because parsing takes longer than signing.
 * @param parse returns the key, or why it cannot be parsed
 */
function createReader(parse: (text: string) => SigningKey | string): (text: string) => Promise<PreparedKey> {
  const known = new Map<string, Promise<PreparedKey>>();
  return (text) => {
    const ready = known.get(text) ?? prepare(parse(text));
    known.set(text, ready);
    return ready;
  };
}

async function prepare(parsed: SigningKey | string): Promise<PreparedKey> {
  if (typeof parsed === 'string') throw new Error('a key passed validation but cannot be parsed');
  const { key, algorithm } = parsed;
  // The JWK is published, so it is made from the public key.
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const jwk = publicKey.export({ format: 'jwk' }) as JWK;
  const kid = await calculateJwkThumbprint(jwk);
  return { key, algorithm, kid, jwk: { ...jwk, kid, alg: algorithm, use: 'sig' } };
}
