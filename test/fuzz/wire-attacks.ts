// Runs attacks over raw sockets: structure bombs, pipelining, slow reading and abandoned requests. Each is bounded in
// bytes, requests and time.
import { gzipSync } from 'node:zlib';
import { TOKEN } from '../support/build-bridge.ts';
import { abandon, burst, neverRead, pipeline, scimRequest, structure } from '../hostile/attacks.ts';
import type { Chance } from './chance.ts';

const ENDPOINTS = ['/Users', '/Groups', '/Bulk', '/.search'];
const QUERIES = [
  'count=200',
  'sortBy=displayName',
  `filter=${encodeURIComponent('title co "x"')}`,
  'cursor=&count=50',
];
const LIMIT_MS = 10_000;

/** @returns a function that makes one random attack and resolves with the answers that no request may get */
export function createWireAttacks(
  { pick, below, once, some }: Chance,
  root: string,
): () => Promise<string[]> {
  const { port: portText, pathname } = new URL(root);
  const port = Number(portText);
  const list = (): Buffer =>
    scimRequest(`GET ${pathname}${pick(['/Users', '/Groups'])}?${pick(QUERIES)}`, TOKEN);
  const several = (most: number): Buffer[] => [list(), ...some(most - 1, list)];

  function bomb(): Buffer {
    const body = pick([
      structure(10_000 + below(990_000)),
      '['.repeat(1 + below(100_000)),
      `{"Operations":${structure(10_000 + below(500_000))}}`,
      `{"a":[${'0,'.repeat(below(300_000))}0]}`,
    ]);
    const line = `${pick(['POST', 'PUT', 'PATCH'])} ${pathname}${pick(ENDPOINTS)}${once(2) ? '/x' : ''}`;
    return once(2)
      ? scimRequest(line, TOKEN, gzipSync(body), { 'Content-Encoding': 'gzip' })
      : scimRequest(line, TOKEN, body);
  }

  return async () => {
    switch (below(4)) {
      case 0:
        return (await burst(port, [bomb(), ...some(2, bomb)], { limitMs: LIMIT_MS })).faults;
      case 1:
        return (await pipeline(port, list(), 2 + below(30), LIMIT_MS)).faults;
      case 2:
        await neverRead(port, list(), { connections: 1 + below(5), times: 1 + below(5), holdMs: below(300) });
        return [];
      default:
        await abandon(port, several(10), below(100));
        return [];
    }
  };
}
