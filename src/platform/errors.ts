// Defines the errors of the platform client. Message, stack and properties contain no token. Only `platformMessage`, which quotes
// the platform, may contain resource ids and personal data. Causes are copies with name, code and message.
import { type RedactText, redactedCause } from './redact.ts';

/** Description of the failed call. `route` is a template such as '/api/scim/v2/Users/{id}'. */
export interface CallContext {
  method: string;
  route: string;
  correlationId?: string | undefined;
  /** True for a write that the platform may have applied although no valid answer arrived. */
  mayHaveCommitted?: boolean;
}

export interface CauseOptions {
  cause?: unknown;
  /** Removes tokens from the texts of the cause. */
  redact: RedactText;
}

/** Base class of all errors of the client. `sync/calls/failures.ts` decides which of them are retried. */
export class PlatformError extends Error {
  readonly method: string;
  readonly route: string;
  readonly correlationId: string | undefined;
  /** True when a write may have been applied: read the platform before a create is repeated. */
  readonly mayHaveCommitted: boolean;

  constructor(what: string, call: CallContext, options?: CauseOptions) {
    const cause = options?.cause === undefined ? undefined : redactedCause(options.cause, options.redact);
    super(`${call.method} ${call.route} ${what}`.trim(), cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.method = call.method;
    this.route = call.route;
    this.correlationId = call.correlationId;
    this.mayHaveCommitted = call.mayHaveCommitted ?? false;
  }
}

/** Thrown when a client is created, before any call: an option is invalid or unsafe. Not retryable. */
export class PlatformConfiguration extends PlatformError {
  readonly option: string;

  constructor(option: string, reason: string) {
    // The error has neither method nor route, because no call was made.
    super(`Platform client option "${option}" ${reason}`, { method: '', route: '' });
    this.option = option;
  }
}

/**
 * Thrown before a call whose id cannot be sent: '', '.', '..' or a lone surrogate in a path, and text that is
 * not a whole number where the platform takes integers. Not retryable; a bug of the caller.
 */
export class PlatformArgument extends PlatformError {
  constructor(name: string, call: CallContext) {
    super(`needs a usable ${name}`, call);
  }
}

/** No complete answer within `timeoutMs`. Retryable; after a create, read first (see mayHaveCommitted). */
export class PlatformTimeout extends PlatformError {
  readonly timeoutMs: number;

  constructor(timeoutMs: number, call: CallContext) {
    super(`got no complete answer within ${timeoutMs} ms`, call);
    this.timeoutMs = timeoutMs;
  }
}

/** Returns what became of a connection. @param code error code of Node.js or undici */
function connectionWords(code = ''): string {
  if (code === 'CERT_HAS_EXPIRED') return 'has no connection: the TLS certificate has expired';
  return CERTIFICATE_CODES.test(code)
    ? 'has no connection: the TLS certificate is not accepted'
    : 'lost or never had a connection';
}

/** Codes for a certificate of the platform that is not accepted. Codes with ERR_SSL_ are about a certificate of the client. */
const CERTIFICATE_CODES = /^(?!ERR_SSL_).*(CERT|SELF_SIGNED|UNABLE_TO_VERIFY|HOSTNAME_MISMATCH)/;

/** No connection, or it was lost before the answer was complete. Retryable; after a create, read first. */
export class PlatformConnection extends PlatformError {
  /** Error code such as ECONNREFUSED, or undefined. */
  readonly code: string | undefined;

  constructor(code: string | undefined, call: CallContext, options: CauseOptions) {
    super(`${connectionWords(code)}${code === undefined ? '' : ` (${code})`}`, call, options);
    this.code = code;
  }
}

/** The caller's signal ended the call. A write may still have been applied (see mayHaveCommitted). */
export class PlatformAborted extends PlatformError {
  constructor(call: CallContext, options: CauseOptions) {
    super('was aborted by the caller', call, options);
  }
}

/** Facts of an answer; PlatformResponse explains them. */
export interface ResponseFacts {
  status: number;
  platformMessage: string;
  scimType?: string | undefined;
  retryAfterMs?: number | undefined;
  requestId?: string | undefined;
  redirectOrigin?: string | undefined;
}

/**
 * The platform answered with a status outside 200..299. 408, 425, 429 and 5xx are retryable after `retryAfterMs`;
 * other statuses are final (contract 7). A 3xx is such an answer too: redirects are not followed, so that the
 * credential is sent to no other address. A 404 may also mean that the endpoint does not exist.
 */
export class PlatformResponse extends PlatformError {
  readonly status: number;
  /** Error message of the platform without tokens, at most 1,000 characters. It may contain personal data. */
  readonly platformMessage: string;
  /** `scimType` of a SCIM error (RFC 7644 §3.12). */
  readonly scimType: string | undefined;
  /** Wait that the header Retry-After asks for. */
  readonly retryAfterMs: number | undefined;
  /** Header x-request-id of the answer, for the operator of the platform. */
  readonly requestId: string | undefined;
  /** Origin of the address that a redirect leads to; undefined: no redirect, or one without a readable address. */
  readonly redirectOrigin: string | undefined;

  constructor(facts: ResponseFacts, call: CallContext) {
    const redirect = facts.status >= 300 && facts.status < 400;
    const to = facts.redirectOrigin === undefined ? '' : `, a redirect to ${facts.redirectOrigin}`;
    super(`answered ${facts.status}${redirect ? `${to}; redirects are not followed` : ''}`, call);
    this.status = facts.status;
    this.platformMessage = facts.platformMessage;
    this.scimType = facts.scimType;
    this.retryAfterMs = facts.retryAfterMs;
    this.requestId = facts.requestId;
    this.redirectOrigin = facts.redirectOrigin;
  }
}

/**
 * A refusal that the platform did not produce: a redirect, or a 4xx with HTML or plain text where the platform
 * returns JSON. A proxy answered, so the state of the resource is unknown; the failure may be transient.
 */
export class PlatformIntermediary extends PlatformResponse {}

/**
 * A success whose body is invalid: not JSON, cut short, too large, or without an id or a total. The answer must not be used.
 * After a write, read the platform before the write is repeated.
 */
export class PlatformDecode extends PlatformError {
  readonly reason: string;

  constructor(reason: string, call: CallContext) {
    super(`answered what cannot be read: ${reason}`, call);
    this.reason = reason;
  }
}

/** A success whose body exceeds the limits of its request (request.ts). A list needs smaller pages then. */
export class AnswerTooLarge extends PlatformDecode {}

/**
 * A list that was not read to a proven end: an empty or short page before the end, a repeated id, or totals that differ. Such a
 * list does not prove that a resource is absent. Scan again later: the list may have changed during the scan.
 */
export class IncompleteList extends PlatformDecode {
  /** Number of entries that were read. */
  readonly seen: number;
  /** Total that the platform announced. */
  readonly expected: number | undefined;

  constructor(reason: string, counts: { seen: number; expected?: number | undefined }, call: CallContext) {
    super(`${reason} (${counts.seen} of ${counts.expected ?? 'an unknown number'} read)`, call);
    this.seen = counts.seen;
    this.expected = counts.expected;
  }
}

/**
 * A web page in place of data. With status 200 it may come from a tenant without the endpoint (contract 12.9), with 404
 * from an open-source Cube server without the path. A retry helps only if a proxy sent the page.
 */
export class EndpointAbsent extends PlatformError {
  readonly status: number;
  /** Start of the page of a 404, without tokens; empty for status 200. */
  readonly platformMessage: string;

  constructor(status: number, call: CallContext, platformMessage = '') {
    super(
      `answered ${status} with a web page: the tenant does not have this endpoint, or a proxy or sign-in page answered in its place`,
      call,
    );
    this.status = status;
    this.platformMessage = platformMessage;
  }
}

/** Returns the message of an error, followed by the platform's own text where it sent one. */
export function messageWithPlatformText(error: Error): string {
  const text = 'platformMessage' in error ? String(error.platformMessage).trim() : '';
  return text === '' || text.startsWith('<') ? error.message : `${error.message}: ${text}`;
}
