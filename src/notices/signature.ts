// Signs messages by Standard Webhooks (standardwebhooks.com), so that receivers can check them with any of its libraries.
import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/**
 * Returns the three headers of a signed message.
 * @param secret `whsec_` and a key in base64
 * @param sentAt Unix milliseconds of the attempt
 */
export function signatureHeaders(
  secret: string,
  { id, sentAt, body }: { id: string; sentAt: number; body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(sentAt / 1000));
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  // `v1`: HMAC-SHA256.
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}
