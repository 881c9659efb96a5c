// Tests that the platform sends no events; only the chat stream is answered over time (contract 9).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { chatIdOf, as, startChat } from './chat-rig.ts';
import { send } from '../../support/send.ts';

let rig: Awaited<ReturnType<typeof startChat>>;
beforeAll(async () => {
  rig = await startChat();
});
afterAll(() => rig.stop());

test('EVT-01 no operation of the OpenAPI document is a webhook or an event stream', async () => {
  const { body: document } = await rig.call('GET', '/api/v1/spec');
  expect(document.webhooks).toBeUndefined();
  const operations = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  for (const { path, operation } of operations) {
    expect(path).not.toMatch(/webhook|callback|subscri|event|stream|listen/i);
    expect(operation.callbacks).toBeUndefined();
    expect(JSON.stringify(operation.responses)).not.toContain('event-stream');
  }
  for (const { path } of operations.filter(({ method }) => method === 'get')) {
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${rig.key('admin')}` };
    const address = `${rig.ready.platformUrl}${path.replace(/\{\w+\}/g, '1')}`;
    // The answer ends; an event stream would stay open.
    const answer = await request(address, { headers, signal: AbortSignal.timeout(5000) });
    expect([path, answer.headers['content-type']]).toEqual([
      path,
      expect.not.stringContaining('event-stream'),
    ]);
    await answer.body.text();
  }
});

test('EVT-01 the sandbox sends no request to a webhook or callback address that a client has stored', async () => {
  const arrived: string[] = [];
  const server = createServer((incoming, outgoing) => {
    arrived.push(`${incoming.method} ${incoming.url}`);
    outgoing.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const hook = { url: `${url}/url`, webhookUrl: `${url}/hook`, callbackUrl: `${url}/call`, events: ['*'] };
  for (const path of [
    '/api/v1/deployments/1/notifications',
    '/api/v1/deployments/1/dbt-sync',
    '/api/v1/oauth-integrations',
    '/api/v1/oidc-token-configs',
    '/build/api/v1/deployments/1/github/connect',
  ])
    expect((await rig.post(path, { name: 'hook', ...hook })).status).toBe(200);
  await rig.call('PUT', '/api/v1/tenant/settings', { body: hook });
  await rig.call('PATCH', '/api/v1/users/me/settings', { body: hook });
  const user = await rig.user('watched@acme.example');
  await rig.group('watchers', [user]);
  await rig.call('DELETE', `/api/scim/v2/Users/${user.id}`);
  expect(chatIdOf((await rig.talk({ input: 'orders by country', ...as('ada') })).records)).not.toBe('');
  await rig.control('POST', '/clock', { advanceMs: 86_400_000 });
  await send(url, 'GET', '/marker', {});
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(arrived).toEqual(['GET /marker']);
});
