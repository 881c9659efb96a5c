// Tests the sign-in of operators against an OpenID Connect provider, by HTTP as a browser sends it, and the rights of
// each role at the API.
import { request as send } from 'node:http';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import type { TestProvider } from '../../support/openid-provider.ts';
import type { AdminRig } from './rig.ts';
import type { PEOPLE } from './sign-in-rig.ts';
import { openSignIn } from './sign-in-rig.ts';

const PAGE = { 'x-scim-bridge-via': 'page', 'sec-fetch-site': 'same-origin' };
/** Ids of POST operations that only read, so that a viewer may call them. */
const READING_POSTS = [
  'verifyAccess',
  'showLinks',
  'explainByBody',
  'searchLog',
  'exportLogBySearch',
  'searchActs',
  'exportActsBySearch',
  'search',
];
let rig: AdminRig;
let provider: TestProvider;
let base: string;

/** Returns a client that stores cookies by host and follows redirects, as a browser does. */
function createBrowser() {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: URL): Map<string, string> => {
    const jar = jars.get(url.host) ?? new Map<string, string>();
    jars.set(url.host, jar);
    return jar;
  };
  async function visit(address: string, init: RequestInit = {}): Promise<Response> {
    const url = new URL(address);
    const jar = jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string>), ...(cookie && { cookie }) };
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(line) || value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  }
  /**
   * Follows redirects to the first answer that is no redirect. @returns the address of that answer, and all
   * addresses before
   */
  async function follow(address: string): Promise<string[]> {
    const way = [address];
    for (let step = 0; step < 10; step++) {
      const at = way.at(-1) ?? '';
      const answer = await visit(at);
      const next = answer.headers.get('location');
      await answer.body?.cancel();
      if (next === null) return way;
      way.push(new URL(next, at).href);
    }
    throw new Error(`too many redirects: ${way.join(' ')}`);
  }
  const call = (method: string, path: string, headers: Record<string, string> = PAGE): Promise<Response> =>
    visit(`${base}/admin/v1${path}`, { method, headers });
  return { visit, follow, call, jarOf };
}

async function signIn(person: keyof typeof PEOPLE) {
  provider.person = person;
  const browser = createBrowser();
  const way = await browser.follow(`${base}/admin/sign-in/`);
  return { ...browser, end: way.at(-1), way };
}

beforeAll(async () => {
  ({ rig, provider, base } = await openSignIn());
}, 60_000);
afterAll(async () => {
  await rig.bridge.stop();
  await provider.stop();
});

test('a person signs in with the OpenID provider, and orders are recorded under the name of that person', async () => {
  const { call, end, jarOf } = await signIn('otto');
  expect(end).toBe(`${base}/admin/`);
  expect([...jarOf(new URL(base)).keys()]).toEqual(['scim-bridge-session']);
  expect(await (await call('GET', '/caller')).json()).toEqual({
    name: 'otto@acme.example',
    person: `${provider.issuer} otto`,
    rights: ['read', 'operate'],
    via: 'openid',
  });
  const held = await call('POST', '/hold');
  expect(held.status).toBe(200);
  expect((await call('POST', '/release')).status).toBe(200);
  const acts = (await rig.operator.get('/acts?limit=2')).body;
  expect(acts.map(({ act, by, via }: Record<string, string>) => [act, by, via])).toEqual([
    ['release', 'otto@acme.example', 'page'],
    ['hold', 'otto@acme.example', 'page'],
  ]);
});

test('the code of the sign-in provider is refused as expired when used a second time, and no log contains the session id', async () => {
  provider.person = 'vera';
  const browser = createBrowser();
  const way = await browser.follow(`${base}/admin/sign-in/`);
  const callback = way.find((address) => address.includes('/callback')) ?? '';
  expect(new URL(callback).searchParams.get('code')).toBeTruthy();
  const id = browser.jarOf(new URL(base)).get('scim-bridge-session') ?? '';
  expect(id).toMatch(/^[\w-]{43}$/);
  expect(rig.bridge.logs.join('\n')).not.toContain(id);
  expect(rig.bridge.logs.join('\n')).not.toContain('vera');
  // A code of the provider is accepted once.
  const again = await browser.visit(callback);
  expect(again.headers.get('location')).toBe('/admin/#/refused/expired');
});

test("a viewer's session gets 403 for every order of the admin API, and for no operation that only reads", async () => {
  const { call } = await signIn('vera');
  const { paths } = (await rig.operator.get('/openapi.json')).body as {
    paths: Record<string, Record<string, { description: string; operationId: string }>>;
  };
  const outcome: Record<string, number[]> = { refused: [], admitted: [] };
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { description, operationId }] of Object.entries(methods)) {
      if (operationId === 'signOut') continue;
      const answer = await call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'none'));
      await answer.body?.cancel();
      const reads = description.startsWith('Needs the role viewer.');
      expect([operationId, method === 'get' || READING_POSTS.includes(operationId)]).toEqual([
        operationId,
        reads,
      ]);
      if (reads) expect([operationId, answer.status]).not.toEqual([operationId, 403]);
      else expect([operationId, answer.status]).toEqual([operationId, 403]);
      outcome[reads ? 'admitted' : 'refused']?.push(answer.status);
    }
  }
  expect(outcome.refused?.length).toBeGreaterThan(20);
  expect(outcome.admitted?.length).toBeGreaterThan(15);
}, 60_000);

test('the role approver may decide approvals but gets 403 for other orders; the role operator gets 403 for decisions on approvals', async () => {
  const anna = await signIn('anna');
  expect((await anna.call('POST', '/approvals/none/approve')).status).toBe(404);
  expect((await anna.call('POST', '/hold')).status).toBe(403);
  const otto = await signIn('otto');
  const refused = await otto.call('POST', '/approvals/none/approve');
  expect(refused.status).toBe(403);
  expect(((await refused.json()) as { detail: string }).detail).toContain('has not got the role approver');
});

test('a person without a role is redirected to the page with the reason no-role and gets no session', async () => {
  const { call, end, jarOf } = await signIn('nora');
  expect(end).toBe(`${base}/admin/#/refused/no-role`);
  expect(jarOf(new URL(base)).size).toBe(0);
  expect((await call('GET', '/caller')).status).toBe(401);
});

test('requests with a session from a page of another origin answer 403', async () => {
  const { call } = await signIn('otto');
  for (const headers of [
    {},
    { 'sec-fetch-site': 'cross-site' },
    { ...PAGE, 'sec-fetch-site': 'cross-site' },
    { ...PAGE, 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'same-origin' },
  ])
    for (const [method, path] of [
      ['POST', '/hold'],
      ['GET', '/status'],
    ] as const)
      expect([headers, (await call(method, path, headers)).status]).toEqual([headers, 403]);
  const preflight = await call('OPTIONS', '/hold', { origin: 'https://evil.example' });
  expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
});

test('a sign-in that begins in one browser and whose callback is opened in another browser is refused and creates no session', async () => {
  provider.person = 'otto';
  const thief = createBrowser();
  const begun = await thief.visit(`${base}/admin/sign-in/`);
  const way = await thief.follow(begun.headers.get('location') ?? '');
  // The callback works in the browser that began the sign-in, and not in another one.
  const callback = way.find((address) => address.includes('/callback')) ?? '';
  const victim = createBrowser();
  expect((await victim.visit(callback)).headers.get('location')).toBe('/admin/#/refused/expired');
  await victim.visit(`${base}/admin/sign-in/`);
  expect((await victim.visit(callback)).headers.get('location')).toBe('/admin/#/refused/refused');
  expect((await victim.call('GET', '/caller')).status).toBe(401);
});

test('after a sign-out, a request with a copy of the session cookie answers 401', async () => {
  const { call, jarOf } = await signIn('vera');
  const copy = `scim-bridge-session=${jarOf(new URL(base)).get('scim-bridge-session')}`;
  expect((await call('DELETE', '/session')).status).toBe(200);
  expect((await call('GET', '/caller')).status).toBe(401);
  expect((await rig.raw('/admin/v1/caller', { headers: { ...PAGE, cookie: copy } })).status).toBe(401);
});

test('a second replica accepts the session of the first, and completes a sign-in that the first began', async () => {
  rig.bridge.config.server.port = 0;
  const other = `http://127.0.0.1:${(await rig.bridge.another('api')).port}`;
  const { jarOf } = await signIn('vera');
  const cookie = `scim-bridge-session=${jarOf(new URL(base)).get('scim-bridge-session')}`;
  const known = await fetch(`${other}/admin/v1/caller`, { headers: { ...PAGE, cookie } });
  expect(await known.json()).toMatchObject({ name: 'vera@acme.example' });

  const browser = createBrowser();
  const begun = await browser.visit(`${base}/admin/sign-in/`);
  const pending = `scim-bridge-sign-in=${browser.jarOf(new URL(base)).get('scim-bridge-sign-in')}`;
  let callback = begun.headers.get('location') ?? '';
  while (!callback.includes('/callback')) {
    const next = (await browser.visit(callback)).headers.get('location') ?? '';
    callback = new URL(next, callback).href;
  }
  const finished = await fetch(callback.replace(base, other), {
    headers: { cookie: pending },
    redirect: 'manual',
  });
  expect(finished.headers.get('location')).toBe('/admin/');
  expect(finished.headers.getSetCookie().join()).toMatch(
    /scim-bridge-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict/,
  );
});

describe('a proxy that names people in headers', () => {
  const named = (name: string, groups: string) => ({
    ...PAGE,
    'x-forwarded-user': name,
    'x-forwarded-groups': groups,
  });

  test('groups in the headers of a trusted proxy give the person the mapped roles', async () => {
    const answer = await rig.raw('/admin/v1/caller', {
      headers: named('pia', 'everybody, bridge-viewers'),
    });
    expect(await answer.json()).toEqual({ name: 'pia', person: 'proxy pia', rights: ['read'], via: 'proxy' });
    const forwarded = { ...named('pia', 'bridge-viewers'), authorization: 'Bearer of-the-proxy' };
    expect((await rig.raw('/admin/v1/caller', { headers: forwarded })).status).toBe(200);
    expect((await rig.raw('/admin/v1/caller', { headers: named('pia', 'everybody') })).status).toBe(403);
    expect((await rig.raw('/admin/v1/caller', { headers: named('', 'bridge-viewers') })).status).toBe(401);
  });

  test('a request answers 401 when the client adds an identity header that the proxy sets as well', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = [
        ...['host', new URL(base).host, 'x-forwarded-user', 'mallory', 'x-forwarded-user', 'pia'],
        ...['x-forwarded-groups', 'bridge-operators', 'x-scim-bridge-via', 'page'],
      ];
      send(`${base}/admin/v1/caller`, { headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(401);
  });
});

test('with a sign-in configured the admin token still has every right, and /admin/sign-in/ways lists the ways to sign in', async () => {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  expect(await (await rig.raw('/admin/v1/caller', { headers })).json()).toEqual({
    name: null,
    person: null,
    rights: ['read', 'operate', 'approve'],
    via: 'token',
  });
  await rig.operator.post('/resync', { by: 'otto@acme.example' });
  const [act] = (await rig.operator.get('/acts?limit=1')).body;
  expect(act.by).toBe('otto@acme.example (admin token)');
  expect(await (await rig.raw('/admin/sign-in/ways')).json()).toEqual({
    openid: true,
    proxy: true,
    token: true,
  });
});

test('when the sign-in provider does not answer, a sign-in is refused, and the admin API still accepts the admin token', async () => {
  // The discovery document is cached, so the exchange of the code fails.
  provider.person = 'otto';
  const browser = createBrowser();
  const begun = await browser.visit(`${base}/admin/sign-in/`);
  const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? '';
  await provider.stop();
  const back = await browser.visit(
    `${base}/admin/sign-in/callback?code=none&state=${state}&iss=${provider.issuer}`,
  );
  expect(back.headers.get('location')).toBe('/admin/#/refused/refused');
  expect((await rig.operator.get('/status')).status).toBe(200);
});
