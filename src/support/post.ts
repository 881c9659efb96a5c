// Posts one text to a receiver from the settings. Redirects are not followed; time and size of the answer are limited.
import { readAnswerAtMost } from './limits.ts';
import { parseRetryAfter } from './retry-after.ts';
import { timeLimit } from './time-limit.ts';

interface PostRequest {
  address: string;
  headers: Record<string, string>;
  body: string;
  timeoutMs: number;
  /** Largest part of the answer that is read; the rest is not received. */
  maxBytes: number;
}

export interface PostAnswer {
  status: number;
  /** Beginning of the answer's body, which may contain personal data. */
  text: string;
  retryAfterMs?: number;
}

/**
 * Posts the text. Never rejects.
 * @returns the answer, or why there is none: words whose subject is the receiver, without its address, such as
 * `gave no answer: the host name is unknown`
 */
export async function postText(request: PostRequest, stop: AbortSignal): Promise<PostAnswer | string> {
  const { address, headers, body, timeoutMs, maxBytes } = request;
  try {
    const answer = await fetch(address, {
      method: 'POST',
      // A redirect may lead to an address without https.
      redirect: 'manual',
      signal: AbortSignal.any([stop, timeLimit(timeoutMs)]),
      headers,
      body,
    });
    const value = answer.headers.get('retry-after') ?? '';
    const date = answer.headers.get('date') ?? '';
    const retryAfterMs = parseRetryAfter({ value, date }, Date.now());
    // A fault of the body is ignored: a receiver that accepts the text but never ends its body must not get the text again.
    const text = await readAnswerAtMost(answer, maxBytes).then(
      ({ bytes }) => bytes.toString(),
      () => '',
    );
    return { status: answer.status, text, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  } catch (error) {
    return `gave no answer: ${reasonOf(error)}`;
  }
}

/** Words for error names, codes and messages of Node.js and undici. */
const REASONS: [RegExp, string][] = [
  [/ECONNREFUSED/, 'nothing listens there'],
  [/ENOTFOUND|EAI_AGAIN/, 'the host name is unknown'],
  [/EHOSTUNREACH|ENETUNREACH/, 'there is no way to the host'],
  [/TimeoutError|TIMEOUT|ETIMEDOUT/, 'not within the time limit'],
  // Before the certificate: the receiver may refuse that of the client.
  [/EPROTO|ERR_SSL/, 'no TLS connection is possible, perhaps because it takes plain HTTP only'],
  [/certificate|self.signed|CERT_|ERR_TLS|DEPTH_ZERO/, 'its TLS certificate is not accepted'],
];

/** Returns the reason of a failed fetch without the words of a library. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error;
  const { code = '', message: inner = '' } = (cause ?? {}) as { code?: string; message?: string };
  const text = [name, message, code, inner].join(' ');
  return REASONS.find(([pattern]) => pattern.test(text))?.[1] ?? 'the connection broke';
}
