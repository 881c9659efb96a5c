// The platform said no with status 200: an error line inside a stream, or an error object instead of one
// (contract 5.2, 6.1, 6.4). Same family as errors.ts, redacted in the same way.
import { PlatformError, type CallContext } from './errors.ts';

/** Base: what went wrong stands in `platformMessage`, tokens cut, at most 1,000 characters. */
export class PlatformRefusal extends PlatformError {
  readonly platformMessage: string;

  constructor(what: string, platformMessage: string, call: CallContext) {
    super(what, call);
    this.platformMessage = platformMessage;
  }
}

/** A query failed, before its first row or after some: rows that came before are not the whole. Final. */
export class QueryRefused extends PlatformRefusal {
  constructor(platformMessage: string, call: CallContext) {
    super('answered an error instead of rows', platformMessage, call);
  }
}

/** Chat takes neither this key nor this token (a JSON-RPC error object). Final until the credential changes. */
export class ChatUnauthorized extends PlatformRefusal {
  constructor(platformMessage: string, call: CallContext) {
    super('was not let in', platformMessage, call);
  }
}

/** The thread answers another message just now. Nothing has changed; ask again when that one is done. */
export class ThreadBusy extends PlatformRefusal {
  constructor(platformMessage: string, call: CallContext) {
    super('found the thread busy', platformMessage, call);
  }
}

/** A chat stream that broke off with an error line. What the agent has done so far stands in the thread. */
export class ChatFailed extends PlatformRefusal {
  constructor(platformMessage: string, call: CallContext) {
    super('broke off', platformMessage, call);
  }
}
