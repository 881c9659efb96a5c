// Removes tokens and payloads from errors before they leave the client.

/** Returns the text without any of the client's tokens. */
export type RedactText = (text: string) => string;

/**
 * Returns a redactor for these secrets in plain, URL-encoded and JSON form. Longer secrets are replaced first,
 * so that a secret that contains another leaves no remainder.
 */
export function createRedactor(secrets: string[]): RedactText {
  const spellings = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1), // without the quotation marks
  ]);
  const longestFirst = [...new Set(spellings)]
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let redacted = text;
    for (const secret of longestFirst) redacted = redacted.replaceAll(secret, '[redacted]');
    return redacted;
  };
}

/**
 * Returns true for an object with the text properties `name` and `message`. `instanceof Error` is false for errors of
 * another realm, and `isNativeError` is false for the DOMException of an abort.
 */
function isFault(value: unknown): value is Error {
  return (
    typeof value === 'object' &&
    value !== null &&
    'message' in value &&
    typeof value.message === 'string' &&
    'name' in value &&
    typeof value.name === 'string'
  );
}

/** Returns the `code` of an error, also from an AggregateError of connection attempts. */
export function faultCode(fault: unknown): string | undefined {
  if (!isFault(fault)) return undefined;
  if ('code' in fault && typeof fault.code === 'string') return fault.code;
  return 'errors' in fault && Array.isArray(fault.errors) ? faultCode(fault.errors[0]) : undefined;
}

/**
 * Returns a copy of a cause with name, code and message only. Network errors also hold parts of the answer
 * (HTTPParserError.data), request options or socket details, and inspecting an error prints them.
 */
export function redactedCause(cause: unknown, redact: RedactText): Error {
  const isError = isFault(cause);
  const copy: Error & { code?: string } = new Error(isError ? redact(cause.message) : typeof cause);
  copy.name = isError ? redact(cause.name) : 'NotAnError';
  const code = faultCode(cause);
  if (code !== undefined) copy.code = redact(code);
  copy.stack = `${copy.name}: ${copy.message}`;
  return copy;
}
