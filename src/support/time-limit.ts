// Replaces `AbortSignal.timeout`, which can be garbage-collected inside `AbortSignal.any` and then never aborts
// (nodejs/node#57736).

/** Returns a signal that aborts with a TimeoutError after a time. Its timer does not keep the process running. */
export function timeLimit(limitMs: number): AbortSignal {
  const limit = new AbortController();
  setTimeout(() => limit.abort(new DOMException('The time limit is over.', 'TimeoutError')), limitMs).unref();
  return limit.signal;
}
