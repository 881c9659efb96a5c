// Runs an issuer of JWTs with changing keys and an address that can fail.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';

export const ISSUER = 'https://login.example.com/tenant/';
export const AUDIENCE = 'scim-bridge';

export interface Issuer {
  uri: string;
  /** The key set that the address answers. */
  keys: JWK[];
  /** Status of the answer; other than 200: the address fails. */
  status: number;
  /** Number of requests for the key set. */
  asked: number;
  addKey(alg: string, kid: string): Promise<void>;
  /** Creates a token that is valid except for the given changes. */
  sign(kid: string, claims?: JWTPayload, header?: object): Promise<string>;
  stop(): Promise<void>;
}

export async function startIssuer(): Promise<Issuer> {
  const pairs = new Map<string, { alg: string; key: CryptoKey }>();
  const server: Server = createServer((_request, response) => {
    issuer.asked += 1;
    response.writeHead(issuer.status, { 'content-type': 'application/json', location: '/elsewhere' });
    response.end(JSON.stringify({ keys: issuer.keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer: Issuer = {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    keys: [],
    status: 200,
    asked: 0,
    addKey: async (alg, kid) => {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
      pairs.set(kid, { alg, key: privateKey });
      issuer.keys.push({ ...(await exportJWK(publicKey)), kid, alg, use: 'sig' });
    },
    sign: async (kid, claims = {}, header = {}) => {
      const pair = pairs.get(kid);
      if (!pair) throw new Error(`no key ${kid}`);
      const now = Math.floor(Date.now() / 1000);
      const payload = { iss: ISSUER, aud: AUDIENCE, sub: 'ext-jo@x.example', exp: now + 300, ...claims };
      return new SignJWT(payload)
        .setProtectedHeader({ alg: pair.alg, kid, ...header })
        .sign(pair.key, { crit: { 'made-up': true } });
    },
    stop: async () => {
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return issuer;
}
