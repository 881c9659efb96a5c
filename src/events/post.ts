// Posts one token to the receiver and interprets the answer (RFC 8935 §2).

export interface ReceiverSettings {
  endpoint: string;
  token: string | null;
  timeoutMs: number;
}

export type Delivered =
  | { kind: 'accepted' }
  /** The receiver refused the token permanently. */
  | { kind: 'refused'; err: string; description: string }
  /** The delivery has to be repeated. `quote`: text of the receiver, which may contain personal data. */
  | { kind: 'later'; problem: string; retryAfterMs?: number; quote?: string };

const ACCEPTED = 202;
const MAX_BYTES = 16_384;
const MOST_TEXT = 500;
/**
 * Error codes of RFC 8935 §2.4 about keys, issuer, audience and access. They concern all tokens and an operator can correct
 * them, so the tokens wait.
 */
const OF_THE_SETTINGS = new Set([
  'invalid_key',
  'invalid_issuer',
  'invalid_audience',
  'authentication_failed',
  'access_denied',
]);

/** @param settings read at each call, because the token may be rotated */
export async function postToken(
  settings: ReceiverSettings,
  text: string,
  stop: AbortSignal,
): Promise<Delivered> {
  const { endpoint, token, timeoutMs } = settings;
  try {
    const answer = await fetch(endpoint, {
      method: 'POST',
      // A redirect could lead to where nobody checked that it is https.
      redirect: 'manual',
      signal: AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]),
      headers: {
        'content-type': 'application/secevent+jwt',
        accept: 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      body: text,
    });
    return judge(answer.status, await readStart(answer), answer.headers.get('retry-after'));
  } catch (error) {
    return { kind: 'later', problem: `no answer: ${reasonOf(error)}` };
  }
}

function judge(status: number, body: string, retryAfter: string | null): Delivered {
  if (status === ACCEPTED) return { kind: 'accepted' };
  const refusal = status === 400 ? parseRefusal(body) : undefined;
  if (refusal && !OF_THE_SETTINGS.has(refusal.err)) return { kind: 'refused', ...refusal };
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
  return {
    kind: 'later',
    problem: `answered ${status} instead of ${ACCEPTED}`,
    ...(refusal ? { quote: `${refusal.err} ${refusal.description}`.trimEnd() } : {}),
    ...(seconds === undefined ? {} : { retryAfterMs: seconds * 1000 }),
  };
}

/** RFC 8935 §2.3: a 400 without a code does not come from a receiver of events. */
function parseRefusal(body: string): { err: string; description: string } | undefined {
  try {
    const { err, description } = JSON.parse(body) as Record<string, unknown>;
    if (typeof err !== 'string') return undefined;
    const words = typeof description === 'string' ? description : '';
    return { err: err.slice(0, MOST_TEXT), description: words.slice(0, MOST_TEXT) };
  } catch {
    return undefined;
  }
}

async function readStart(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop cancels the rest.
    if (size > MAX_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_BYTES).toString();
}

/** Returns the cause of a failed fetch; the message `fetch failed` alone does not tell it. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message;
}
