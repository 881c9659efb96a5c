// Tests what operators are told while a proxy, a firewall or a sign-in page answers every call in place of the platform.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const SIGN_IN = '<html><title>Corporate sign-in</title></html>';

let place: Place;
let proxy: Server;
let url: string;
/** Status of the answers of the proxy. */
let status: number;
beforeAll(async () => {
  place = await openPlace({});
  proxy = createServer((_request, response) => {
    const location = { location: 'https://login.example/saml?token=secret' };
    response.writeHead(status, { 'content-type': 'text/html', ...(status < 400 && location) });
    response.end(SIGN_IN);
  });
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.change(({ targets }) => {
    targets.main.url = url;
  });
  status = 302;
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value: 'Ann Two' });
}, 60_000);
afterAll(async () => {
  await place.stop();
  proxy.closeAllConnections();
  proxy.close();
});

const run = (...args: string[]) => place.commands.run(...args);
const noted = (wanted: number) =>
  eventually(
    `the breaker has noted ${wanted}`,
    async () => {
      const { open, status: last } = (await run('status', '--json')).json[0].breaker;
      return open && last === wanted;
    },
    20_000,
  );

test('every call is redirected to a sign-in page → status, explain, plan and doctor report the redirect, and doctor names the configured and the redirected address', async () => {
  await noted(302);
  const [status, explain, plan, doctor, verify] = [
    await run('status'),
    await run('explain', ANN, '--all'),
    await run('plan'),
    await run('doctor'),
    await run('verify-access', ANN),
  ];
  const redirects = 'answers with redirects (302; a wrong url, a proxy or a sign-in page)';
  expect(status.text).toContain(`the platform ${redirects}`);
  expect(status.text).toContain('check targets.main.url, or a proxy');
  expect(explain.text).toContain(`main ${redirects}`);
  expect(plan.text).toContain(`The target main ${redirects}`);
  expect(doctor.text).toContain(
    `✘ target main: answers every address below ${url} with a redirect (302) to https://login.example. Check targets.main.url, and any proxy before the platform.`,
  );
  // The proxy came with a new address, and no account is read there.
  expect(verify.text).toMatch(
    /a change waits to be applied: main answers with redirects .*; no call has succeeded since \S+: check targets\.main\.url, or a proxy; the address of main changed/,
  );
  expect(verify.text).toContain(`not known: main was not read at its new address: main ${redirects}`);
  for (const { text } of [status, explain, plan, doctor, verify])
    expect(text).not.toMatch(/SCIM on|administrator|does not have this endpoint|secret/);
}, 60_000);

test('a firewall answers every call with 403 and a page → status advises doctor, and doctor names the address and the text of the page without advice about SCIM', async () => {
  status = 403;
  await noted(403);
  expect((await run('status')).text).toContain(
    'scim-bridge doctor tells whether the platform or a proxy answers',
  );
  const doctor = await run('doctor');
  expect(doctor.text).toContain(
    `answers every address below ${url} with 403 and a text that is not of the platform (Corporate sign-in). Check targets.main.url`,
  );
  expect(doctor.text).not.toContain('SCIM on');
}, 60_000);

test('a proxy answers every call with a web page and status 200 → verify-access does not claim that the tenant lacks the endpoint', async () => {
  status = 200;
  await noted(200);
  expect((await run('doctor')).text).toContain(`answers every address below ${url} with a web page`);
  expect((await run('verify-access', ANN)).text).toContain(
    'not known: main was not read at its new address: main answers with web pages',
  );
}, 60_000);
