// Provides settings of a notice channel, and reads the messages that a receiver got.
import type { NoticeChannelConfig } from '../../src/config/schema/notices.ts';
import { signatureHeaders } from '../../src/notices/signature.ts';
import type { NoticeItem } from '../../src/notices/summary.ts';
import type { Receiver } from './receiver.ts';

export const NOTICE_SECRET = `whsec_${Buffer.from('a key of the tests, 32 bytes long').toString('base64')}`;
export const PAGE_URL = 'https://bridge.example.com';

/** @returns a webhook channel for all subjects with short waiting times */
export const webhookTo = (url: string, rest: Partial<NoticeChannelConfig> = {}): NoticeChannelConfig => ({
  url,
  form: 'webhook',
  secret: NOTICE_SECRET,
  allowLoopbackHttp: true,
  groupMs: 1000,
  about: ['held', 'exceptions', 'deadLetters', 'breaker', 'reconcile', 'tokens'],
  ...rest,
});

export interface ReceivedNotice {
  id: string;
  items: NoticeItem[];
  answered: number;
}

/** Returns the messages in order. @throws Error for a wrong signature */
export function noticesOf({ posts }: Pick<Receiver, 'posts'>): ReceivedNotice[] {
  return posts.map(({ headers, text, answered, at }) => {
    const id = String(headers['webhook-id']);
    const sentAt = Number(headers['webhook-timestamp']) * 1000;
    const expected = signatureHeaders(NOTICE_SECRET, { id, sentAt, body: text })['webhook-signature'];
    if (headers['webhook-signature'] !== expected) throw new Error(`wrong signature of ${text}`);
    if (Math.abs(at - sentAt) > 30_000) throw new Error(`signed at ${sentAt}`);
    const body = JSON.parse(text) as { type: string; id: string; data: { items: NoticeItem[] } };
    if (body.type !== 'scim-bridge.notice' || body.id !== id) throw new Error(`not a notice: ${text}`);
    return { id, answered, items: body.data.items };
  });
}
