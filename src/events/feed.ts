// Provides the events of one connection as signed tokens, for push and poll delivery.
import type { EventDelivery, EventStream, EventRefusal } from '../directory/logs/event-stream.ts';
import { eventIdOf, toClaims } from './claims.ts';
import type { Slice } from '../support/pace.ts';
import { createSigner, type KeySettings, type Signer } from './signer.ts';

export interface FeedSettings extends KeySettings {
  issuer: string;
  audience: string;
  maxAgeMs: number;
}

export interface EventToken {
  jti: string;
  /** Signed, in compact form. */
  text: string;
}

export interface Feed {
  connection: string;
  /** Returns the oldest pending tokens in order; they remain until they are acknowledged or refused. */
  next(count: number): Promise<EventToken[]>;
  /** Removes delivered and refused tokens from the pending ones. Unknown ids are ignored. */
  acknowledge(
    acknowledged: readonly string[],
    refused?: readonly (Omit<EventRefusal, 'id'> & { jti: string })[],
  ): Promise<void>;
  /** Returns the counts of the stream. */
  delivery(): Promise<EventDelivery>;
  /** Deletes expired events and returns the counts of the stream. */
  tend(): Promise<EventDelivery>;
  keys: Signer['keys'];
}

/** Number of tokens that are signed at once: more would occupy every processor of a small machine. */
const SIGNED_AT_ONCE = 8;

/** Creates the feed. @param deps.pace lets short requests be served while many tokens are signed */
export function createFeed(
  { stream, pace }: { stream: EventStream; pace: () => Slice },
  connection: string,
  settings: FeedSettings,
): Feed {
  const signer = createSigner(settings);
  /** Returns the id in the stream, or an empty list for a token of another connection. */
  const idsOf = (jti: string): string[] => {
    const id = eventIdOf(jti, connection);
    return id === undefined ? [] : [id];
  };
  return {
    connection,
    next: async (count) => {
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
    acknowledge: async (acknowledged, refused = []) => {
      await stream.acknowledge(
        acknowledged.flatMap(idsOf),
        refused.flatMap(({ jti, ...reason }) => idsOf(jti).map((id) => ({ id, ...reason }))),
      );
    },
    delivery: () => stream.delivery(),
    tend: () => stream.delivery(settings.maxAgeMs),
    keys: signer.keys,
  };
}
