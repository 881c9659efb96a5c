// Posts one security event token (a signed JWT about one event; below: event token) to the receiver and interprets the answer
// (RFC 8935 §2).
import { postText, type PostAnswer } from '../support/post.ts';

export interface ReceiverSettings {
  endpoint: string;
  /** Bearer token of the requests; null: they have no Authorization header. */
  token: string | null;
  timeoutMs: number;
}

type PostOutcome =
  | { kind: 'accepted' }
  /** The receiver refused the event token permanently. */
  | { kind: 'refused'; err: string; description: string }
  /** The delivery has to be repeated. `quote`: text of the receiver, which may contain personal data. */
  | { kind: 'later'; problem: string; retryAfterMs?: number; quote?: string };

const ACCEPTED = 202;
/** Largest answer that is read. */
const MAX_BYTES = 16_384;
/** Largest number of stored characters of an error text from the receiver. */
const MOST_TEXT = 500;
/**
 * Error codes of RFC 8935 §2.4 about keys, issuer, audience and access. They concern all event tokens, and an operator can correct
 * their cause in the settings, so the event tokens wait.
 */
const CAUSED_BY_SETTINGS = new Set([
  'invalid_key',
  'invalid_issuer',
  'invalid_audience',
  'authentication_failed',
  'access_denied',
]);

/** Posts one event token. Never rejects. @param settings read at each call, because the bearer token may be rotated */
export async function postToken(
  settings: ReceiverSettings,
  text: string,
  stop: AbortSignal,
): Promise<PostOutcome> {
  const { endpoint, token, timeoutMs } = settings;
  const answer = await postText(
    {
      address: endpoint,
      body: text,
      timeoutMs,
      maxBytes: MAX_BYTES,
      headers: {
        'content-type': 'application/secevent+jwt',
        accept: 'application/json',
        ...(token !== null && { authorization: `Bearer ${token}` }),
      },
    },
    stop,
  );
  // A string says why no answer came.
  return typeof answer === 'string' ? { kind: 'later', problem: answer } : toOutcome(answer);
}

/** A 400 with an error code refuses the token, unless the settings caused the error. Every other answer but 202 is tried again. */
function toOutcome({ status, text, retryAfterMs }: PostAnswer): PostOutcome {
  if (status === ACCEPTED) return { kind: 'accepted' };
  const refusal = status === 400 ? parseRefusal(text) : undefined;
  if (refusal && !CAUSED_BY_SETTINGS.has(refusal.err)) return { kind: 'refused', ...refusal };
  return {
    kind: 'later',
    problem: `answered ${status} instead of ${ACCEPTED}`,
    ...(refusal && { quote: `${refusal.err} ${refusal.description}`.trimEnd() }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** Returns the error in the body of a 400; undefined without `err`: no receiver of events answers so (RFC 8935 §2.3). */
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
