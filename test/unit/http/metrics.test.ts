// Tests access to the metrics on the SCIM port for clients of any address.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createAdminCheck } from '../../../src/http/admin/authenticate.ts';
import { createClientAddress } from '../../../src/http/middleware/client-address.ts';
import { createMetricsRouter, protectMetrics } from '../../../src/http/metrics.ts';
import { createLogger } from '../../../src/support/logger.ts';
import { randomIds, systemClock } from '../../../src/support/sources.ts';

const TOKEN = 'an-admin-token-of-tests-0123456789';
const logger = createLogger('silent', { write: () => undefined });
let address = '';
const servers: Server[] = [];
afterAll(() => servers.forEach((server) => server.close()));

async function serve(token: string | undefined): Promise<number> {
  const deps = { logger, ids: randomIds, clock: systemClock, clientAddress: createClientAddress([]) };
  const check = token === undefined ? undefined : createAdminCheck(deps, () => token);
  const metrics = createMetricsRouter('text/plain', () => Promise.resolve(Buffer.from('up 1\n')));
  const app = express().use(protectMetrics(metrics, deps, check));
  const server = createServer((request, response) => {
    Object.defineProperty(request.socket, 'remoteAddress', { value: address, configurable: true });
    app(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function scrapeFrom(
  from: string,
  { token, headers }: { token?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; text: string }> {
  address = from;
  const port = await serve(token);
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: headers ?? {} });
  return { status: answer.status, text: await answer.text() };
}

test.each([
  '127.0.0.1',
  '10.2.3.4',
  '172.20.0.1',
  '192.168.1.9',
  '100.64.0.1',
  '::1',
  'fd00::1',
  '::ffff:10.0.0.1',
])('a client at %s gets metrics without a token', async (from) => {
  expect(await scrapeFrom(from)).toEqual({ status: 200, text: 'up 1\n' });
});

test.each(['203.0.113.9', '172.32.0.1', '2001:db8::1', '::ffff:203.0.113.9', ''])(
  'a client at the address "%s" gets metrics with the admin token only',
  async (from) => {
    expect(await scrapeFrom(from)).toMatchObject({ status: 403 });
    expect(await scrapeFrom(from, { token: TOKEN })).toMatchObject({ status: 401 });
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect(await scrapeFrom(from, { token: TOKEN, headers })).toEqual({ status: 200, text: 'up 1\n' });
  },
);

test.each([{ 'x-forwarded-for': '10.0.0.1' }, { forwarded: 'for=10.0.0.1' }])(
  'a client behind a proxy gets metrics with the admin token only: %p',
  async (headers) => {
    expect(await scrapeFrom('10.0.0.1', { token: TOKEN, headers })).toMatchObject({ status: 401 });
    const authorized = { ...headers, authorization: `Bearer ${TOKEN}` };
    expect(await scrapeFrom('10.0.0.1', { token: TOKEN, headers: authorized })).toMatchObject({
      status: 200,
    });
  },
);
