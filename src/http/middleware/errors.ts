// Converts every error of a SCIM request to a SCIM error response.
import type { ErrorRequestHandler, Request } from 'express';
import { isStoreUnavailable } from '../../directory/redis/connection.ts';
import { ScimError, unavailable } from '../../scim/index.ts';
import type { Ids } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';
import { Busy, createByteBudget } from '../../support/limits.ts';
import { respondError } from '../scim/respond.ts';
import { correlationIdOf } from './request-context.ts';

const RETRY_AFTER_SECONDS = 5;

/** Time for which the rest of a refused body is read and discarded: many clients read the answer only after sending all. */
const DISCARD_MS = 2000;
/** Limit of discarded chunks: a body in chunks of one byte has millions of them, and each takes processor time. */
const DISCARD_CHUNKS = 1000;
/** Limit of discarded bytes of all requests together; beyond it the connection is closed immediately. */
const DISCARD_BYTES = 64 * 1024 * 1024;
// Statuses for a body that is too large (413), or for which there is no memory or time (503). If the rest of the body was not read,
// the connection is closed. After other errors Node.js discards the rest, and the connection is kept.
const CLOSES = new Set([413, 503]);

/** Returns the error handler of the SCIM routers. An unexpected error is logged, and the 500 has the id of the log line. */
export function createErrorHandler(deps: { logger: Logger; ids: Ids }): ErrorRequestHandler {
  const { logger, ids } = deps;
  const discarding = createDiscarding();
  return (error: unknown, request, response, _next) => {
    // The client has disconnected, which aborted the work.
    if (response.closed && (error as Error).name === 'AbortError') return;
    // An answer that has begun cannot become an error any more.
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const known = toScimError(error);
    if (known) {
      const closes = CLOSES.has(known.status) && !request.complete;
      if (closes) response.setHeader('Connection', 'close');
      respondError(response, known, closes ? discarding(request) : undefined);
      return;
    }
    const errorId = ids.request();
    logger.error({ err: error, errorId, request: correlationIdOf(request) }, 'request failed unexpectedly');
    respondError(response, new ScimError(500, `Internal error ${errorId}: give this id to the operator.`));
  };
}

/** Returns the SCIM error of an error; undefined for an unexpected error. */
function toScimError(error: unknown): ScimError | undefined {
  if (error instanceof ScimError) return error;
  if (isStoreUnavailable(error)) {
    return unavailable(
      'The directory is not available: retry later, repeating the request is safe.',
      RETRY_AFTER_SECONDS,
    );
  }
  if (error instanceof Busy) {
    return unavailable('The bridge has too much to do: retry later.', error.retryAfterSeconds);
  }
  // Express sets `status` for a path that cannot be decoded.
  const { status } = error as { status?: number };
  if (status === undefined || status < 400 || status >= 500) return undefined;
  const scimType = status === 400 ? 'invalidSyntax' : undefined;
  return new ScimError(status, 'The request cannot be read.', { scimType });
}

/**
 * Returns a function that discards the rest of a refused body within the limits above, so that the client reads the answer.
 * After the discarding it calls `end`, which ends the response.
 */
function createDiscarding(): (request: Request) => (end: () => void) => void {
  // A share is half of its budget.
  const budget = createByteBudget(2 * DISCARD_BYTES).share();
  return (request) => (end) => {
    let chunks = 0;
    let discardedBytes = 0;
    const stop = (): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', stop).off('close', stop);
      budget.give(discardedBytes);
      end();
    };
    const onData = ({ length }: Buffer): void => {
      chunks += 1;
      if (chunks <= DISCARD_CHUNKS && budget.take(length)) {
        discardedBytes += length;
        return;
      }
      stop();
      request.destroy();
    };
    const timer = setTimeout(stop, DISCARD_MS);
    request.on('data', onData).once('end', stop).once('close', stop).resume();
  };
}
