// Defines security headers of JSON answers: a browser must not render one as a page or run one as a script.
export const JSON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;
