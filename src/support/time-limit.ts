/**
 * Returns a signal that aborts with a TimeoutError after a time. The timer holds it, and does not keep the process running.
 * `AbortSignal.timeout` inside `AbortSignal.any` may be collected before its time and then never aborts (nodejs/node#57736).
 */
export function timeLimit(limitMs: number): AbortSignal {
  const limit = new AbortController();
  setTimeout(() => limit.abort(new DOMException('The time limit is over.', 'TimeoutError')), limitMs).unref();
  return limit.signal;
}
