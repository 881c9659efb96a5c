// Parses the header Retry-After.

/**
 * Returns the wait in milliseconds. The header holds whole seconds or an HTTP-date (RFC 9110 §10.2.3). A date is
 * compared with the answer's own Date header, so that clock skew cancels out; without one it is compared with
 * `now` (Unix milliseconds).
 */
export function parseRetryAfter(
  { value = '', date = '' }: { value?: string | undefined; date?: string | undefined },
  now: number,
): number | undefined {
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const until = Date.parse(text);
  if (Number.isNaN(until) || !/[a-z]/i.test(text)) return undefined;
  const answered = Date.parse(date);
  return Math.max(0, until - (Number.isNaN(answered) ? now : answered));
}
