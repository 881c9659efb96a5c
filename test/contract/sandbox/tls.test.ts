// Tests `--tls`: https with the sandbox's own certificate (contract 1.2).
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ tls: true });
});
afterAll(() => sandbox.stop());

/** Returns the status of a call that trusts only `ca`, or its error. */
function status(url: string, ca: string | undefined, key: string | undefined): Promise<number | Error> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${key}` };
    const outgoing = request(url, { ...(ca === undefined ? {} : { ca }), headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    outgoing.on('error', resolve).end();
  });
}

test("GEN-02 over https a client that trusts the sandbox's certificate gets 200, and another client fails to connect", async () => {
  const { platformUrl, certificate, fixtures } = sandbox.ready;
  expect(platformUrl).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  expect(certificate).toContain('BEGIN CERTIFICATE');
  expect(certificate).not.toContain('PRIVATE');
  expect(await status(`${platformUrl}/api/v1/users/me`, certificate, fixtures.apiKeys['admin'])).toBe(200);
  expect(await status(`${platformUrl}/api/v1/users/me`, undefined, 'x')).toHaveProperty('code');
});

test('GEN-02 plain http to the TLS port is closed without an answer or redirect', async () => {
  const url = `${sandbox.ready.platformUrl.replace('https', 'http')}/api/v1/users/me`;
  const outcome = await new Promise((resolve) => {
    plainRequest(url, (response) => resolve(response.statusCode))
      .on('error', resolve)
      .end();
  });
  expect(outcome).toHaveProperty('code', 'ECONNRESET');
});

test('a sandbox with TLS and a data folder keeps its certificate over restarts, and the key file is readable by its owner only', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'sandbox-tls-'));
  try {
    const first = await startSandbox({ tls: true, dataDir });
    await first.stop();
    const second = await startSandbox({ tls: true, dataDir });
    await second.stop();
    expect(second.ready.certificate).toBe(first.ready.certificate);
    expect((await stat(join(dataDir, 'certificate.key'))).mode & 0o777).toBe(0o600);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('a sandbox with TLS can listen on 0.0.0.0, and then names localhost in its address', async () => {
  const open = await startSandbox({ tls: true, host: '0.0.0.0' });
  expect(open.ready.platformUrl).toMatch(/^https:\/\/localhost:\d+$/);
  await open.stop();
});
