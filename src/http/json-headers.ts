// Defines security headers of JSON answers: with them a browser does not show such an answer as a page, and does not run it
// as a script.
export const JSON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;
