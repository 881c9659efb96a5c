// Everything that the platform client throws on its own account. Redacted when made: no token, no body, no id
// and no personal data in message, stack or properties; `platformMessage` alone quotes the platform, without
// tokens. Causes are copies that carry name, code and message only.
import type { RedactText } from './redact.ts';
import { redactedCause } from './redact.ts';

/** What is known of the call that failed. `route` is a template such as '/api/scim/v2/Users/{id}'. */
export interface CallContext {
  method: string;
  route: string;
  correlationId?: string | undefined;
  /** True for a write that the platform may have carried out although we have no good answer. */
  mayHaveCommitted?: boolean;
}

export interface CauseOptions {
  cause?: unknown;
  redact: RedactText;
}

/** Base of the family. Catch it where a call's failure becomes a verdict, and there only. */
export class PlatformError extends Error {
  readonly method: string;
  readonly route: string;
  readonly correlationId: string | undefined;
  /** True when a write may have taken effect: look at the platform again before repeating a create. */
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

/** Thrown by createPlatformClient, before any call: a setting cannot work or is not safe. Correct it; final. */
export class PlatformConfiguration extends PlatformError {
  readonly option: string;

  constructor(option: string, reason: string) {
    super(`Platform client option "${option}" ${reason}`, { method: '', route: '' });
    this.option = option;
  }
}

/** Thrown before a call whose id cannot stand in an address ('', '.', '..', half a character). Final: a bug. */
export class PlatformArgument extends PlatformError {
  constructor(name: string, call: CallContext) {
    super(`needs a usable ${name}`, call);
  }
}

/** No complete answer within `timeoutMs`. Retry; after a create, look first (see mayHaveCommitted). */
export class PlatformTimeout extends PlatformError {
  readonly timeoutMs: number;

  constructor(timeoutMs: number, call: CallContext) {
    super(`got no complete answer within ${timeoutMs} ms`, call);
    this.timeoutMs = timeoutMs;
  }
}

/** No connection, or it was lost before the answer was complete. Retry; after a create, look first. */
export class PlatformConnection extends PlatformError {
  /** Code of the fault, such as ECONNREFUSED, where there is one. */
  readonly code: string | undefined;

  constructor(code: string | undefined, call: CallContext, options: CauseOptions) {
    super(`lost or never had a connection${code === undefined ? '' : ` (${code})`}`, call, options);
    this.code = code;
  }
}

/** The caller's signal ended the call. Do not retry on its own account; a write may still have happened. */
export class PlatformAborted extends PlatformError {
  constructor(call: CallContext, options: CauseOptions) {
    super('was aborted by the caller', call, options);
  }
}

export interface ResponseFacts {
  status: number;
  platformMessage: string;
  scimType?: string | undefined;
  retryAfterMs?: number | undefined;
  requestId?: string | undefined;
}

/**
 * The platform answered with a status outside 200..299. Retry 408, 429 and 5xx, not before `retryAfterMs`;
 * everything else is final (contract 7). A 3xx is here as well: redirects are never followed, so that
 * the credential goes to no other address; correct the tenant address. A 404 on a whole endpoint is here too.
 */
export class PlatformResponse extends PlatformError {
  readonly status: number;
  /** What the platform says, tokens cut, at most 1,000 characters. May name people: not for public eyes. */
  readonly platformMessage: string;
  readonly scimType: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;

  constructor(facts: ResponseFacts, call: CallContext) {
    const redirect = facts.status >= 300 && facts.status < 400;
    super(`answered ${facts.status}${redirect ? '; redirects are not followed' : ''}`, call);
    this.status = facts.status;
    this.platformMessage = facts.platformMessage;
    this.scimType = facts.scimType;
    this.retryAfterMs = facts.retryAfterMs;
    this.requestId = facts.requestId;
  }
}

/**
 * A refusal that is not the platform's own: a redirect, or a 4xx with a page or a plain text, where the platform answers
 * JSON. Something between us and the platform speaks, so nothing is known of what was asked; it may pass.
 */
export class PlatformIntermediary extends PlatformResponse {}

/**
 * A success whose body is not what was promised: no JSON, cut short, too large, or without an id or a total.
 * Final until somebody looks; never act on such an answer. After a write, look at the platform again.
 */
export class PlatformDecode extends PlatformError {
  readonly reason: string;

  constructor(reason: string, call: CallContext) {
    super(`answered what cannot be read: ${reason}`, call);
    this.reason = reason;
  }
}

/**
 * A success whose body is larger than what is read, or would need too much memory (answer-bounds.ts). Of a list, a page
 * with a smaller count may be read.
 */
export class AnswerTooLarge extends PlatformDecode {}

/**
 * A list that was not read to a proven end: a page empty or short before the end, an id twice, totals that
 * disagree. Never conclude that something is gone; walk again later (the list may have changed meanwhile).
 */
export class IncompleteList extends PlatformDecode {
  readonly seen: number;
  readonly expected: number | undefined;

  constructor(reason: string, counts: { seen: number; expected?: number | undefined }, call: CallContext) {
    super(`${reason} (${counts.seen} of ${counts.expected ?? 'an unknown number'} read)`, call);
    this.seen = counts.seen;
    this.expected = counts.expected;
  }
}

/** 200 with a page instead of data: this tenant does not have the endpoint (contract 12.9). Do not retry. */
export class EndpointAbsent extends PlatformError {
  readonly status: number;

  constructor(status: number, call: CallContext) {
    super(`answered ${status} with a web page; the tenant does not have this endpoint`, call);
    this.status = status;
  }
}
