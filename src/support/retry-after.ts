// Parses the header Retry-After.

/**
 * Returns the wait in milliseconds; undefined when the value cannot be parsed. The header holds seconds or an HTTP-date (RFC
 * 9110 §10.2.3). A date is compared with the header Date of the same answer, because the clocks may differ; without that
 * header it is compared with `now` (Unix milliseconds).
 */
export function parseRetryAfter(
  { value = '', date = '' }: { value?: string | undefined; date?: string | undefined },
  now: number,
): number | undefined {
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // Date.parse also reads texts such as `-1`; an HTTP-date has letters.
  const until = Date.parse(text);
  if (Number.isNaN(until) || !/[a-z]/i.test(text)) return undefined;
  const answered = Date.parse(date);
  return Math.max(0, until - (Number.isNaN(answered) ? now : answered));
}
