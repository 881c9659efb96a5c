// The one place that turns a throw into a reply.
import type { ErrorRequestHandler } from 'express';
import { isStoreUnavailable } from '../../directory/connection.ts';
import { invalidSyntax, ScimError, unavailable, unsupportedMediaType } from '../../scim/index.ts';
import type { Ids } from '../../support/ids.ts';
import type { Logger } from '../../support/logger.ts';
import { respondError } from '../scim/respond.ts';
import { tooLarge } from './json-body.ts';
import { correlationIdOf } from './request-context.ts';

const RETRY_AFTER_SECONDS = 5;

/** A refusal of the body reader, with the status it proposes. */
interface BodyFault {
  type?: string;
  status?: number;
  /** Of a body that is too large: bytes that it may have. */
  limit?: number;
}

export function createErrorHandler(deps: { logger: Logger; ids: Ids }): ErrorRequestHandler {
  const { logger, ids } = deps;
  return (error: unknown, request, response, _next) => {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const known = toScimError(error);
    if (known) {
      // The rest of a body that nobody reads would block the connection.
      if (known.status === 413) response.setHeader('Connection', 'close');
      respondError(response, known);
      return;
    }
    const errorId = ids.request();
    logger.error({ err: error, errorId, request: correlationIdOf(request) }, 'request failed unexpectedly');
    respondError(response, new ScimError(500, `Internal error ${errorId}: give this id to the operator.`));
  };
}

function toScimError(error: unknown): ScimError | undefined {
  if (error instanceof ScimError) return error;
  if (isStoreUnavailable(error)) {
    return unavailable(
      'The directory is not available: come back, repeating the request is safe.',
      RETRY_AFTER_SECONDS,
    );
  }
  const { type, status, limit } = error as BodyFault;
  switch (type ?? '') {
    case 'entity.too.large':
      return tooLarge(limit ?? 0);
    case 'entity.verify.failed':
      return invalidSyntax('The body is not UTF-8.');
    case 'entity.parse.failed':
      return invalidSyntax('The body is not JSON.');
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return unsupportedMediaType('Send the body as UTF-8, plain, gzip or deflate.');
    default:
      // A path that can not be decoded, an aborted upload, a wrong length: the client's doing.
      return status !== undefined && status >= 400 && status < 500
        ? new ScimError(status, 'The request can not be read.', {
            scimType: status === 400 ? 'invalidSyntax' : undefined,
          })
        : undefined;
  }
}
