// Runs a receiver of security events that verifies tokens with the bridge's published keys.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRemoteJWKSet, jwtVerify, type JWTPayload } from 'jose';

export const ISSUER = 'https://scim.example.com';
export const AUDIENCE = 'https://siem.example.com';

/** Claims of a verified token. */
export type Told = JWTPayload & {
  jti: string;
  txn: string;
  sub_id: { format: string; uri: string; externalId?: string };
  events: Record<string, { attributes?: string[]; version?: string }>;
};

export interface Answer {
  status: number;
  body?: string;
  headers?: Record<string, string>;
}

export interface Receiver {
  endpoint: string;
  /** All posts since the start, in order. */
  posts: { headers: Record<string, unknown>; text: string; answered: number; at: number }[];
  /** Answers of the next posts; 202 when the list is empty. */
  answers: Answer[];
  /** False: connections are closed without an answer. */
  isThere: boolean;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    if (!receiver.isThere) {
      request.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { status, body, headers } = receiver.answers.shift() ?? { status: 202 };
      const text = Buffer.concat(chunks).toString();
      receiver.posts.push({ headers: request.headers, text, answered: status, at: Date.now() });
      response.writeHead(status, headers).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    posts: [],
    answers: [],
    isThere: true,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/**
 * @param keysUri address of the bridge's public keys. @returns a function that verifies a token and returns its
 * claims
 */
export function createCheck(keysUri: string): (text: string) => Promise<Told> {
  // Without a pause between two fetches, a new key is found at once.
  const keys = createRemoteJWKSet(new URL(keysUri), { cooldownDuration: 0 });
  return async (text) => {
    const expected = { issuer: ISSUER, audience: AUDIENCE, typ: 'secevent+jwt' };
    return (await jwtVerify(text, keys, expected)).payload as Told;
  };
}
