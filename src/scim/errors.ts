// Defines the SCIM errors of RFC 7644 §3.12: one class, and a function for each scimType and status.
import { ERROR_URN } from './urns.ts';

/** Detail error keywords that this service sends: of RFC 7644 §3.12, table 9, then of RFC 9865 §2.1. */
type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'
  | 'invalidCursor'
  | 'invalidCount';

interface ScimErrorOptions {
  scimType?: ScimType | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  cause?: unknown;
}

/** An error whose `detail` is sent to the client unchanged: it must not contain secrets or text of other parties. */
export class ScimError extends Error {
  readonly status: number;
  readonly detail: string;
  readonly scimType: ScimType | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, detail: string, options: ScimErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ScimError';
    this.status = status;
    this.detail = detail;
    this.scimType = options.scimType;
    this.headers = options.headers ?? {};
  }
}

/** Returns client text for the `detail` of an error, cut to 200 characters. */
export const excerpt = (text: string): string => text.slice(0, 200);

const badRequest =
  (scimType: ScimType) =>
  (detail: string): ScimError =>
    new ScimError(400, detail, { scimType });

export const invalidFilter = badRequest('invalidFilter');
export const tooMany = badRequest('tooMany');
export const mutability = badRequest('mutability');
export const invalidSyntax = badRequest('invalidSyntax');
export const invalidPath = badRequest('invalidPath');
export const noTarget = badRequest('noTarget');
export const invalidValue = badRequest('invalidValue');
export const invalidCursor = badRequest('invalidCursor');
export const invalidCount = badRequest('invalidCount');

/** 409: another resource holds the value (RFC 7644 §3.3, and table 9 in RFC 7644 §3.12). */
export const uniqueness = (detail: string): ScimError =>
  new ScimError(409, detail, { scimType: 'uniqueness' });

/** 401 with the challenge that RFC 7644 §2 asks for. */
export const unauthorized = (detail = 'Authentication is missing or not valid.'): ScimError =>
  new ScimError(401, detail, { headers: { 'WWW-Authenticate': 'Bearer realm="scim"' } });
export const forbidden = (detail: string): ScimError => new ScimError(403, detail);
export const notFound = (detail: string): ScimError => new ScimError(404, detail);
/** 405; `allow` lists the methods that this address does answer. */
export const methodNotAllowed = (allow: readonly string[]): ScimError =>
  new ScimError(405, `This address answers ${allow.join(', ')} only.`, {
    headers: { Allow: allow.join(', ') },
  });
export const preconditionFailed = (detail: string): ScimError => new ScimError(412, detail);
export const payloadTooLarge = (detail: string): ScimError => new ScimError(413, detail);
export const unsupportedMediaType = (detail: string): ScimError => new ScimError(415, detail);
export const notImplemented = (detail: string): ScimError => new ScimError(501, detail);

const withRetryAfter =
  (status: number) =>
  (detail: string, retryAfterSeconds: number): ScimError =>
    new ScimError(status, detail, {
      headers: { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
    });

/** 429 with an integer `Retry-After`: Okta reads whole seconds only. */
export const tooManyRequests = withRetryAfter(429);
/** 503 with an integer `Retry-After`. */
export const unavailable = withRetryAfter(503);

interface ErrorBody {
  schemas: [string];
  status: string;
  scimType?: ScimType;
  detail: string;
}

/** The wire form: `{schemas, status: '409', scimType?, detail}`; `status` is text (RFC 7644 §3.12). */
export function errorBody(error: ScimError): ErrorBody {
  const body: ErrorBody = { schemas: [ERROR_URN], status: String(error.status), detail: error.detail };
  if (error.scimType) body.scimType = error.scimType;
  return body;
}
