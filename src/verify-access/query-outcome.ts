// Classifies a failed call of the data API: its effect on the user, and whether the failure proves that nothing is visible.
// Pure.
import type { LoadQuery } from '../platform/core-data-records.ts';
import {
  EndpointAbsent,
  PlatformConnection,
  PlatformDecode,
  PlatformIntermediary,
  PlatformAborted,
  PlatformResponse,
  PlatformTimeout,
  type PlatformError,
} from '../platform/errors.ts';
import { QueryRefused } from '../platform/refusals.ts';
import type { FailedQuery, FailureKind } from './report.ts';

/** Parts of error messages of the data API. `NO_VALUES` and `WRONG_FORM` name the filter that the server could not use. */
const HIDDEN = /requested hidden member/i;
const COMPILE_ERROR = /compile errors?\b|schema (?:compilation|validation)/i;
const NO_VALUES = /Values required for filter: (\{.*)/s;
const WRONG_FORM = /"filters\[(\d+)\]" does not match any of the allowed types/;
/** Added to the meaning of `hidden`, because the server sends the same error for a private member. */
const PRIVATE = ', or it is private in the model (public: false)';
/** A policy's template inserts the word `undefined` for a missing attribute, which the database then refuses. */
const UNDEFINED_VALUE = /invalid input syntax for type [\w ]+: "undefined"/;

export interface FailedCall {
  /** Null: the call was not a query. */
  query: LoadQuery | null;
  /** Groups of the user. */
  groups: readonly string[];
  /** Whether the call used the API secret of the deployment. */
  hasSecret: boolean;
  /** Time limit of a query, milliseconds. */
  timeoutMs: number;
}

/**
 * Returns whether the failure shows that the user gets no data by this query. A refused query counts too: it gives no rows, and its
 * meaning says that the query has to be corrected.
 */
export const provesAbsence = (kind: FailureKind): boolean =>
  kind === 'hidden' || kind === 'attributeMissing' || kind === 'refused';

/** Returns the kind of the failure, the words of the server and their meaning for the user. */
export function toFailedQuery(error: PlatformError, call: FailedCall): FailedQuery {
  const message = serverWords(error);
  const kind = kindOf(error, message, call);
  return { kind, query: call.query, message, meaning: meaningOf(kind, error, call) };
}

/** Returns the text of the server, without tags if it is a web page; without a text the message of the error. */
function serverWords(error: PlatformError): string {
  const sent = 'platformMessage' in error ? String(error.platformMessage) : '';
  const text = sent.trimStart().startsWith('<') ? sent.replace(/<[^>]*>?/g, ' ') : sent;
  return text.replace(/\s+/g, ' ').trim() || error.message;
}

/** Returns the kind of a failure. The class of the error tells more than its text, and the text more than the status. */
function kindOf(error: PlatformError, message: string, call: FailedCall): FailureKind {
  // An abort by the caller is thrown before (visibility.ts), so PlatformAborted is the time limit of the whole command.
  if (error instanceof PlatformTimeout || error instanceof PlatformAborted) return 'timedOut';
  if (error instanceof PlatformConnection) return 'unreachable';
  if (error instanceof EndpointAbsent || error instanceof PlatformIntermediary) return 'webPage';
  if (error instanceof PlatformDecode) return 'unreadable';
  if (HIDDEN.test(message)) return 'hidden';
  if (COMPILE_ERROR.test(message)) return 'modelBroken';
  if (isAttributeMissing(message, call.query)) return 'attributeMissing';
  if (error instanceof QueryRefused) return 'refused';
  const status = error instanceof PlatformResponse ? error.status : undefined;
  if (status === 401 || status === 403) return 'notAllowed';
  // 400: the server found the query invalid.
  return status === 400 ? 'refused' : 'failed';
}

/** Returns whether a filter of a policy has no usable value: the message then names a filter that is not one of the query's own. */
function isAttributeMissing(message: string, query: LoadQuery | null): boolean {
  if (UNDEFINED_VALUE.test(message)) return true;
  const queryFilters = query?.filters ?? [];
  const [, place] = WRONG_FORM.exec(message) ?? [];
  // Filters of policies follow those of the query, so a position beyond the query's own filters belongs to a policy.
  if (place !== undefined) return Number(place) >= queryFilters.length;
  const [, text] = NO_VALUES.exec(message) ?? [];
  const [, member] = /"member":"([^"]*)"/.exec(text ?? '') ?? [];
  return text !== undefined && !JSON.stringify(queryFilters).includes(`"${member ?? ''}"`);
}

/** Returns the effect of a failure on what the user sees, with what the operator can do. */
function meaningOf(kind: FailureKind, error: PlatformError, call: FailedCall): string {
  const { groups, hasSecret, timeoutMs } = call;
  switch (kind) {
    case 'hidden':
      return groups.length === 0
        ? `not visible: this user is in no group, and no policy for everybody shows the member${PRIVATE}`
        : `not visible: no policy for a group of this user (${groups.join(', ')}) shows the member${PRIVATE}`;
    case 'attributeMissing':
      return 'not visible: a user attribute that a policy needs has no value or another type';
    case 'refused':
      return 'not visible: the query did not run, because the deployment refused it; correct the query';
    case 'modelBroken':
      return 'not known: the data model does not compile, so nobody can query it; correct the model';
    case 'notAllowed':
      return hasSecret
        ? 'not known: the deployment refused the token; check the API secret and the deployment'
        : 'not known: rows need the API secret of the deployment';
    case 'timedOut':
      return `not known: no answer within ${timeoutMs / 1000} s; repeat, or allow more with --timeout`;
    case 'unreachable':
      return 'not known: the data API cannot be reached; check its address (--data-url)';
    case 'webPage':
      return 'not known: a web page answered in place of the data API; check its address (--data-url)';
    case 'unreadable':
      return 'not known: the answer is not one of the data API; check its address (--data-url)';
    case 'failed': {
      const status = error instanceof PlatformResponse ? ` with status ${error.status}` : '';
      return `not known: the data API failed${status}; this says nothing about the user`;
    }
  }
}
