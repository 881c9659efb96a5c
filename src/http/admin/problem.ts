// Defines the errors of the admin API as problem documents (RFC 9457).
import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, Response } from 'express';
import { isStoreUnavailable } from '../../directory/redis/connection.ts';
import { storeFailureText } from '../../directory/redis/why-away.ts';
import { TargetSilent } from '../../reconcile/target-silent.ts';
import { ScimError } from '../../scim/index.ts';
import type { Ids } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';
import { Busy } from '../../support/limits.ts';
import { sendJson } from '../json-headers.ts';
import { correlationIdOf } from '../middleware/request-context.ts';

const PROBLEM_JSON = 'application/problem+json';
const RETRY_AFTER_SECONDS = 5;

interface ProblemOptions {
  headers?: Readonly<Record<string, string>>;
  /** Properties of the document besides type, title, status and detail. */
  extra?: Readonly<Record<string, unknown>>;
}

/** An error whose message is sent to the operator unchanged. */
export class Problem extends Error {
  override name = 'Problem';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(status: number, detail: string, { headers = {}, extra = {} }: ProblemOptions = {}) {
    super(detail);
    this.status = status;
    this.headers = headers;
    this.extra = extra;
  }
}

/** Creates a 400 with one entry for each fault; a `path` is, for example, `/body/target` or `/query/limit`. */
export const invalid = (errors: { path: string; message: string }[]): Problem =>
  new Problem(400, errors.map(({ path, message }) => `${path}: ${message}`).join('; '), {
    extra: { errors },
  });

/** Creates a 409 for a name that several resources have. */
export const severalProblem = (
  resources: readonly { connection: string; ref: string; name?: string }[],
): Problem =>
  new Problem(409, 'The name means more than one: ask again with one of these refs.', {
    extra: { resources: resources.map(({ connection, ref, name }) => ({ connection, ref, name })) },
  });

/** Creates a 429 with the header Retry-After and the given ones. */
export const tooManyProblem = (
  detail: string,
  retryAfterSeconds: number,
  headers: Readonly<Record<string, string>> = {},
): Problem =>
  new Problem(429, detail, {
    headers: { ...headers, 'Retry-After': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
  });

/**
 * Returns an error handler that answers with a problem document; for an unexpected error it is a 500, and the log has a line. An
 * answer that has begun is broken off instead.
 */
export function createProblemHandler({ logger, ids }: { logger: Logger; ids: Ids }): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    if (response.headersSent) {
      logger.warn(
        { err: error as Error, request: correlationIdOf(request) },
        'an answer broke off in the middle',
      );
      response.destroy();
      return;
    }
    const known = toProblem(error);
    if (known) {
      // The rest of the body is not read, so the connection cannot be used for another request.
      const isBodyUnread = known.status === 413 || (known.status === 503 && !request.complete);
      if (isBodyUnread) response.setHeader('Connection', 'close');
      respondProblem(response, known);
      return;
    }
    const errorId = ids.request();
    logger.error({ err: error, errorId, request: correlationIdOf(request) }, 'request failed unexpectedly');
    const detail = `Internal error ${errorId}: the log has a line with this id.`;
    respondProblem(response, new Problem(500, detail, { extra: { errorId } }));
  };
}

/** Returns the problem document of an error; undefined for an unexpected error. */
function toProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (error instanceof Busy) {
    return new Problem(503, 'The bridge has too much to do: retry later.', {
      headers: { 'Retry-After': String(error.retryAfterSeconds) },
    });
  }
  if (error instanceof TargetSilent) return new Problem(502, error.message);
  // The body reader throws SCIM errors.
  if (error instanceof ScimError) return new Problem(error.status, error.detail, { headers: error.headers });
  if (isStoreUnavailable(error)) {
    const detail = `${storeFailureText(error as Error)} Repeat the request when Redis answers and takes writes.`;
    return new Problem(503, detail, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });
  }
  // Express sets `status` for a path that cannot be decoded.
  const { status } = error as { status?: number };
  if (status === undefined || status < 400 || status >= 500) return undefined;
  return new Problem(
    status,
    'The request cannot be read: send UTF-8 JSON to one of the addresses in openapi.json.',
  );
}

function respondProblem(response: Response, { status, message, headers, extra }: Problem): void {
  const title = STATUS_CODES[status] ?? 'Refused';
  const document = { type: 'about:blank', title, status, detail: message, ...extra };
  sendJson(response, status, document, { 'Content-Type': PROBLEM_JSON, ...headers });
}
