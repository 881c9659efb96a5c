// Routes the endpoints of security event receivers: poll delivery (RFC 8936) and the public keys.
import express, { type RequestHandler, type Router } from 'express';
import { parsePollRequest, type Poll } from '../events/poll.ts';
import type { Feed } from '../events/feed.ts';
import { invalidValue } from '../scim/index.ts';
import type { ByteShare } from '../support/limits.ts';
import type { Clock } from '../support/sources.ts';
import type { Admission } from './admission/admission.ts';
import { JSON_HEADERS, sendJson } from './json-headers.ts';
import { createBadCredentials, MOST_OF_PROVIDER, wrongToken } from './middleware/bad-credentials.ts';
import { bearerTokenOf, isSecret } from './middleware/bearer-token.ts';
import { allowOnly, countUntilRead, untilClosed } from './scim/respond.ts';
import { createClientAddress, type ClientAddress } from './middleware/client-address.ts';
import { createJsonBody } from './middleware/json-body.ts';

interface EventsConnection {
  /** Pending events of the connection as signed tokens, and the public keys for them. */
  feed: Feed;
  /**
   * Poll delivery. Undefined when the bridge pushes the events; then only the public keys are served. `token` is called at
   * each request, because the token may rotate.
   */
  poll?: { ask: Poll; token: () => string };
}

/** Largest body of a poll request. */
const MAX_BYTES = 1_048_576;
/** Time for which a receiver may cache the keys. For a token with an unknown key the receiver reads them earlier. */
const KEYS_MAX_AGE_S = 300;

/** Returns one router for each connection, by its mount path `/connections/<name>/events`. */
export function createEventRouters(
  { clock }: { clock: Clock },
  connections: readonly EventsConnection[],
  { trustedProxies, admission }: { trustedProxies: readonly string[]; admission: Admission },
): Map<string, Router> {
  const clientAddress = createClientAddress(trustedProxies);
  return new Map(
    connections.map(({ feed, poll }) => {
      const router = express.Router();
      router
        .route('/keys')
        .get(async (_request, response) => {
          sendJson(response, 200, await feed.keys(), {
            'Content-Type': 'application/jwk-set+json',
            'Cache-Control': `max-age=${KEYS_MAX_AGE_S}`,
          });
        })
        .all(allowOnly('GET'));
      if (poll)
        router
          .route('/')
          .all(createReceiverCheck({ clock, clientAddress }, poll.token))
          .post(
            createJsonBody({ limit: MAX_BYTES, admitted: admission.of(feed.connection) }),
            answerPoll(poll.ask, admission.of(feed.connection).answers),
          )
          .all(allowOnly('POST'));
      return [`/connections/${feed.connection}/events`, router];
    }),
  );
}

/**
 * Returns middleware that checks the token of the receiver. This token can only read events, and the token of the identity
 * provider is refused here. @throws 401 for a missing or wrong token, 429 after many wrong ones from one address
 */
function createReceiverCheck(
  { clock, clientAddress }: { clock: Clock; clientAddress: ClientAddress },
  token: () => string,
): RequestHandler {
  const badCredentials = createBadCredentials(MOST_OF_PROVIDER);
  return (request, response, next) => {
    const presented = bearerTokenOf(request);
    if (isSecret(presented, token())) {
      next();
      return;
    }
    const advice = 'Send the token of the setting events.poll: Authorization: Bearer <token>.';
    throw wrongToken({ clientAddress, badCredentials }, response, presented, clock.now(), advice);
  };
}

/** Returns a handler that answers a poll request with the next events. @throws 400 for a malformed request */
const answerPoll =
  (ask: Poll, answers: ByteShare): RequestHandler =>
  async (request, response) => {
    // Of a malformed request, `parsePollRequest` returns a text that describes the fault.
    const parsed = parsePollRequest(request.body);
    if (typeof parsed === 'string') throw invalidValue(parsed);
    const text = JSON.stringify(await ask(parsed, untilClosed(response)));
    countUntilRead(response, text.length, answers);
    const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...JSON_HEADERS };
    response.writeHead(200, headers).end(text);
  };
