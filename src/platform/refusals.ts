// Defines the errors for refusals that arrive with status 200: an error line inside a stream, or an error
// object instead of a stream (contract 5.2, 6.1, 6.4). Like the errors of errors.ts, they contain no token.
import { PlatformError, type CallContext } from './errors.ts';

/** Base class. `platformMessage` holds the reason without tokens, at most 1,000 characters. */
export class PlatformRefusal extends PlatformError {
  readonly platformMessage: string;

  constructor(what: string, platformMessage: string, call: CallContext) {
    super(what, call);
    this.platformMessage = platformMessage;
  }
}

/** A query failed before or after its first rows; rows already received are incomplete. Not retryable. */
export class QueryRefused extends PlatformRefusal {
  constructor(platformMessage: string, call: CallContext) {
    super('answered an error instead of rows', platformMessage, call);
  }
}

/** Chat refused the API key or token (a JSON-RPC error object). Not retryable with the same credential. */
export class ChatUnauthorized extends PlatformRefusal {
  constructor(platformMessage: string, call: CallContext) {
    super('was not let in', platformMessage, call);
  }
}

/** The thread is streaming another answer. Nothing was changed; retry when that answer has ended. */
export class ThreadBusy extends PlatformRefusal {
  constructor(platformMessage: string, call: CallContext) {
    super('found the thread busy', platformMessage, call);
  }
}

/** A chat stream ended with an error line. The thread keeps the part of the answer that came before. */
export class ChatFailed extends PlatformRefusal {
  constructor(platformMessage: string, call: CallContext) {
    super('broke off', platformMessage, call);
  }
}
