// Creates what the SCIM routes of one connection share: the readers of request bodies, the context of a request for the functions
// of src/provider, and the handlers that send the answers of these functions.
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Answer, RequestContext } from '../../provider/context.ts';
import { readQuery } from '../../scim/index.ts';
import { Busy } from '../../support/limits.ts';
import type { Admitted } from '../admission/admission.ts';
import { createJsonBody } from '../middleware/json-body.ts';
import { correlationIdOf } from '../middleware/request-context.ts';
import { send, untilClosed } from './respond.ts';

export interface ScimHandlerOptions {
  /** Path of the SCIM root, such as `/scim/v2`. */
  root: string;
  /** Configured address of the service without a trailing slash; null: the Host header is used. */
  publicUrl: string | null;
  maxBodyBytes: number;
  limits: { userBodyBytes: number; pageBytes: number };
  admitted: Admitted;
}

const RETRY_AFTER_SECONDS = 2;

/** Form of an accepted Host header. The header becomes part of addresses in answers, so other characters are refused. */
const HOST = /^[A-Za-z0-9.\-:[\]]{1,255}$/;

export type ScimHandlers = ReturnType<typeof createScimHandlers>;

export function createScimHandlers(options: ScimHandlerOptions) {
  const { admitted, maxBodyBytes } = options;
  // A search body is read with the smaller limit, that of users.
  const readBody = {
    Users: createJsonBody({ limit: Math.min(options.limits.userBodyBytes, maxBodyBytes), admitted }),
    Groups: createJsonBody({ limit: maxBodyBytes, admitted }),
  };

  /** Returns the address of the SCIM root, for addresses in answers. */
  function baseUrl(request: Request): string {
    if (options.publicUrl !== null) return options.publicUrl + options.root;
    const host = request.headers.host ?? '';
    // The service itself has no TLS; behind a TLS proxy `publicUrl` gives the public address.
    return `http://${HOST.test(host) ? host : 'localhost'}${options.root}`;
  }

  /** Returns the part of a request that the functions of src/provider need besides the id in its path and its body. */
  function contextOf(request: Request): RequestContext {
    const context: RequestContext = { request: correlationIdOf(request), baseUrl: baseUrl(request) };
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
    if (ifMatch !== undefined) context.ifMatch = ifMatch;
    if (ifNoneMatch !== undefined) context.ifNoneMatch = ifNoneMatch;
    // Parsing costs time, so the query is parsed only when it has `attributes` or `excludedAttributes`, which is rare. The names of
    // both parameters end in `ttributes`.
    if (request.url.includes('ttributes=')) {
      const { attributes, excludedAttributes } = readQuery(searchParamsOf(request));
      // An empty parameter counts as absent.
      context.attributes = attributes || undefined;
      context.excludedAttributes = excludedAttributes || undefined;
    }
    return context;
  }

  /** Returns a handler that sends what `make` returns; `make` waits for a turn in the share of the connection. */
  const answer =
    (make: (request: Request) => Promise<Answer> | Answer): RequestHandler =>
    async (request: Request, response: Response, _next: NextFunction) => {
      send(response, await admitted.singles.run(() => make(request)), admitted.answers);
    };

  /**
   * As `answer`, for a list. Lists do not wait for a turn here. src/provider limits them, because only there it is known whether an
   * index answers a list. A list is refused at once when a full page of unread bytes would not fit into the share of the
   * connection.
   */
  const answerList =
    (make: (request: Request, context: RequestContext) => Promise<Answer>): RequestHandler =>
    async (request, response) => {
      if (!admitted.answers.fits(options.limits.pageBytes)) throw new Busy(RETRY_AFTER_SECONDS);
      const context = contextOf(request);
      context.untilLeft = () => untilClosed(response);
      send(response, await make(request, context), admitted.answers);
    };

  return { readBody, baseUrl, contextOf, answer, answerList };
}

/** Returns all parameters of the query. */
export function searchParamsOf(request: Request): URLSearchParams {
  const start = request.url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : request.url.slice(start + 1));
}
