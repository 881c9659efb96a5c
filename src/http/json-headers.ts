// Sends JSON answers with security headers.
import type { ServerResponse } from 'node:http';

/** Security headers of JSON answers: a browser does not show such an answer as a page, and does not run it as a script. */
export const JSON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** @param headers further headers, such as another Content-Type. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
      ...JSON_HEADERS,
      ...headers,
    })
    .end(text);
}
