// Sends one message to one receiver and decides by the answer whether it is sent again.
import { createHash } from 'node:crypto';
import { postText } from '../support/post.ts';
import { noticeBodyOf, type NoticeContent, type NoticeForm } from './forms.ts';
import { signatureHeaders } from './signature.ts';

export interface NoticeReceiver {
  url: string;
  form: NoticeForm;
  /** Null for forms without a signature. */
  secret: string | null;
}

export type NoticeOutcome =
  | { kind: 'delivered'; status: number }
  /** The attempt is repeated. `status` is null without an answer. */
  | { kind: 'later'; status: number | null; problem: string; retryAfterMs?: number }
  /** The receiver refused the message permanently. `gone`: it accepts no further message at this address. */
  | { kind: 'refused'; status: number; problem: string; gone: boolean };

const TIMEOUT_MS = 10_000;
/** Largest number of bytes that are read of the answer. */
const MAX_BYTES = 65_536;
const GONE = 410;
/** 4xx statuses that are transient. */
const TRANSIENT = new Set([408, 425, 429]);

/** Identifies an address without storing the address, which may contain a secret. */
export const digestOfAddress = (url: string): string =>
  createHash('sha256').update(url).digest('base64url').slice(0, 16);

/** Makes one attempt. Never rejects. @param options.now Unix milliseconds, for the signature */
export async function deliver(
  { url, form, secret }: NoticeReceiver,
  content: NoticeContent,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<NoticeOutcome> {
  const body = noticeBodyOf(form, content);
  const { id } = content;
  const answer = await postText(
    {
      address: url,
      body,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'scim-bridge',
        ...(secret === null ? { 'webhook-id': id } : signatureHeaders(secret, { id, sentAt: now, body })),
      },
    },
    signal,
  );
  // A string says why no answer came.
  if (typeof answer === 'string') return { kind: 'later', status: null, problem: answer };
  const { status, retryAfterMs } = answer;
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  const problem = `answered ${status}`;
  if (status >= 500 || TRANSIENT.has(status))
    return { kind: 'later', status, problem, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  if (status < 400)
    return { kind: 'refused', status, problem: `${problem}, and redirects are not followed`, gone: false };
  return { kind: 'refused', status, problem, gone: status === GONE };
}
