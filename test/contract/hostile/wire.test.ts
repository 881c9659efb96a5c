// Tests HTTP below libraries: broken framing, slow senders, pipelining and odd methods.
import { startApi, userBody, type Client } from '../scim-conformance/client.ts';
import { TOKEN, type Bridge } from '../../support/build-bridge.ts';
import { answersIn, exchange, expectUnharmed, openRaw, parseAnswers, rawRequest } from './attack.ts';

const AUTH = { Authorization: `Bearer ${TOKEN}` };
const USERS = '/scim/v2/Users';

let bridge: Bridge;
let scim: Client;
beforeAll(async () => {
  ({ bridge, scim } = await startApi());
});
afterAll(() => bridge.stop());
afterEach(() => expectUnharmed(scim));

let serial = 0;
const json = (): string => JSON.stringify(userBody(`wire${++serial}@x.example`));

describe('request bodies with wrong or unfinished framing', () => {
  test('50 POSTs with unfinished bodies do not keep 50 complete POSTs from being stored, and store no user', async () => {
    const slow = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const raw = await openRaw(scim.port);
        raw.write(rawRequest(`POST ${USERS}`, { ...AUTH, 'Content-Length': 1000 }, '{"userName":"slow'));
        return raw;
      }),
    );
    const startedAt = Date.now();
    const answers = await Promise.all(Array.from({ length: 50 }, () => scim.post('/Users', json())));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(Date.now() - startedAt).toBeLessThan(15_000);
    for (const raw of slow) raw.close();
    expect(await scim.find('/Users', 'userName sw "slow"')).toEqual([]);
  });

  test('POST with a chunked body larger than the limit answers 413', async () => {
    const raw = await openRaw(scim.port);
    raw.write(rawRequest(`POST ${USERS}`, { ...AUTH, 'Transfer-Encoding': 'chunked' }));
    const chunk = Buffer.from(`100000\r\n${'x'.repeat(0x100000)}\r\n`);
    for (let count = 0; count < 12; count++) raw.write(chunk);
    raw.write('0\r\n\r\n');
    const wire = await raw.read((text) => answersIn(text) === 1, 5000);
    raw.close();
    expect(parseAnswers(wire)).toMatchObject([{ status: 413 }]);
  });

  test('POST with a Content-Length above the limit answers 413 before the body arrives', async () => {
    const [answer] = await exchange(
      scim.port,
      rawRequest(`POST ${USERS}`, { ...AUTH, 'Content-Length': 999_999_999 }),
      1,
      2000,
    );
    expect(answer?.status).toBe(413);
  });

  test('a POST whose client closes the connection within the body stores no user', async () => {
    const body = JSON.stringify(userBody('cut@x.example'));
    for (const cut of [1, body.length - 1]) {
      const raw = await openRaw(scim.port);
      raw.write(rawRequest(`POST ${USERS}`, { ...AUTH, 'Content-Length': body.length }, body.slice(0, cut)));
      raw.socket.end();
      await raw.read(() => false, 300);
      raw.close();
    }
    expect(await scim.find('/Users', 'userName eq "cut@x.example"')).toEqual([]);
  });

  test('POST with a Content-Length shorter than its body answers 400, and the rest of the body stores no user', async () => {
    const body = JSON.stringify(userBody('short@x.example'));
    const answers = await exchange(
      scim.port,
      rawRequest(`POST ${USERS}`, { ...AUTH, 'Content-Length': 10 }, body),
      2,
      2000,
    );
    expect(answers[0]?.status).toBe(400);
    for (const answer of answers.slice(1)) expect(answer.status).toBe(400);
    expect(await scim.find('/Users', 'userName eq "short@x.example"')).toEqual([]);
  });

  test.each([
    [
      'Content-Length and Transfer-Encoding',
      { 'Content-Length': 5, 'Transfer-Encoding': 'chunked' },
      '0\r\n\r\n',
    ],
    ['a negative Content-Length', { 'Content-Length': -1 }, ''],
    ['a Content-Length that is no number', { 'Content-Length': 'many' }, ''],
    ['an unknown transfer coding', { 'Transfer-Encoding': 'gzip' }, 'x'],
    ['a chunk size that is not hexadecimal', { 'Transfer-Encoding': 'chunked' }, 'zz\r\n{}\r\n0\r\n\r\n'],
  ])('a POST framed with %s answers 400', async (_what, headers, body) => {
    const [answer] = await exchange(
      scim.port,
      rawRequest(`POST ${USERS}`, { ...AUTH, ...headers }, body),
      1,
      2000,
    );
    expect(answer?.status).toBe(400);
  });

  test('the body of a GET or DELETE is ignored, and the next request on the connection is answered', async () => {
    const { id } = await scim.user('bodied@x.example');
    const one = rawRequest(`GET ${USERS}/${id}`, { ...AUTH, 'Content-Length': 6 }, '{"a":1');
    const two = rawRequest(`DELETE ${USERS}/${id}`, { ...AUTH, 'Content-Length': 2 }, '{}');
    const answers = await exchange(scim.port, Buffer.concat([one, two]), 2);
    expect(answers.map(({ status }) => status)).toEqual([200, 204]);
  });
});

describe('several requests on one TCP connection', () => {
  test('pipelined GETs are answered in the order of the requests', async () => {
    const paths = [
      '/ServiceProviderConfig',
      '/Users/nobody',
      '/Users?count=0',
      '/nowhere',
      '/Schemas?filter=x',
      '/Me',
    ];
    const wire = Buffer.concat(paths.map((path) => rawRequest(`GET /scim/v2${path}`, AUTH)));
    const answers = await exchange(scim.port, wire, paths.length);
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 200, 404, 403, 501]);
  });

  test('pipelined PATCHes of one user are applied in the order of the requests', async () => {
    const { id } = await scim.user('piped@x.example');
    const patches = ['a', 'b', 'c'].map((value) => {
      const body = JSON.stringify({ Operations: [{ op: 'replace', path: 'title', value }] });
      return rawRequest(`PATCH ${USERS}/${id}`, { ...AUTH, 'Content-Length': body.length }, body);
    });
    const answers = await exchange(scim.port, Buffer.concat(patches), 3);
    expect(answers.map(({ body }) => body.title)).toEqual(['a', 'b', 'c']);
  });

  test('pipelined PUTs and PATCHes of one user are applied in the order of the requests', async () => {
    const { id } = await scim.user('piped2@x.example');
    const write = (method: string, body: object) => {
      const text = JSON.stringify(body);
      return rawRequest(`${method} ${USERS}/${id}`, { ...AUTH, 'Content-Length': text.length }, text);
    };
    const patch = (operation: object) => write('PATCH', { Operations: [operation] });
    const wire = [
      write('PUT', { ...userBody('piped2@x.example'), title: 'first' }),
      // This PATCH needs the stored user first; the next PATCH does not.
      patch({ op: 'remove', path: 'title', value: 'nobody' }),
      patch({ op: 'replace', path: 'title', value: 'second' }),
      patch({ op: 'remove', path: 'title' }),
      write('PUT', { ...userBody('piped2@x.example'), title: 'third' }),
      patch({ op: 'add', path: 'name.givenName', value: 'Pip' }),
    ];
    const answers = await exchange(scim.port, Buffer.concat(wire), wire.length);
    const titles = answers.map(({ body }) => body?.title as unknown);
    expect(titles).toEqual(['first', 'first', 'second', undefined, 'third', 'third']);
  });

  test('the connection stays open after 400, 401, 404, 405, 409 and 412, and the next request is answered', async () => {
    const existing = await scim.user('alive@x.example');
    const post = (body: string, auth: object = AUTH): Buffer =>
      rawRequest(`POST ${USERS}`, { ...auth, 'Content-Length': Buffer.byteLength(body) }, body);
    const stale = rawRequest(`DELETE ${USERS}/${existing.id}`, { ...AUTH, 'If-Match': 'W/"99"' });
    const requests = [
      post('{broken'),
      post('{}', { Authorization: 'Bearer wrong' }),
      rawRequest(`GET ${USERS}/nobody`, AUTH),
      rawRequest(`DELETE ${USERS}`, AUTH),
      post(JSON.stringify(userBody('alive@x.example'))),
      stale,
      rawRequest(`GET ${USERS}/${existing.id}`, AUTH),
    ];
    const raw = await openRaw(scim.port);
    let wire = '';
    for (const [index, request] of requests.entries()) {
      raw.write(request);
      wire = await raw.read((text) => answersIn(text) === index + 1);
    }
    raw.close();
    expect(parseAnswers(wire).map(({ status }) => status)).toEqual([400, 401, 404, 405, 409, 412, 200]);
  });
});

describe('request lines and headers', () => {
  test.each(['HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'LOCK', 'PURGE', 'M-SEARCH'])(
    'method %s answers a status below 500 without an HTML page, and never returns the token',
    async (method) => {
      for (const path of [
        '/scim/v2/Users',
        '/scim/v2/ServiceProviderConfig',
        '/scim/v2/Groups/x',
        '/',
        '/scim/v2/Users/.search',
      ]) {
        const raw = await openRaw(scim.port);
        raw.write(rawRequest(`${method} ${path}`, { ...AUTH, Connection: 'close' }));
        const wire = await raw.read(() => false, 2000);
        raw.close();
        const status = Number(wire.split(' ')[1]);
        expect(status < 500 && status >= 200).toBe(true);
        expect(wire).not.toMatch(/<html|<!DOCTYPE/i);
        if (method === 'HEAD') expect(wire.endsWith('\r\n\r\n')).toBe(true);
        else for (const answer of parseAnswers(wire)) expect([404, 405]).toContain(answer.status);
        // TRACE must not return the request with its token (cross-site tracing).
        expect(wire).not.toContain(TOKEN);
      }
    },
  );

  test.each([
    'GET * ',
    'GET //scim/v2/Users',
    'GET /scim/v2//Users',
    'GET /scim/v2/../../etc/passwd',
    'GET /scim/v2/Users/..%2f..%2fGroups',
    'GET /scim/v2/Users/%',
    'GET /scim/v2/Users/%zz',
    'GET /scim/v2/Users/%00',
    'GET /scim/v2/Users/a%00b',
    'GET /scim/v2/Users/%ff%fe',
    'GET /scim/v2/Users/a%2Fb',
    'GET /scim/v2/Users/%2e%2e',
    'GET /scim/v2/Users/a%0d%0aSet-Cookie:x',
    'GET /scim/v2/Users/:id',
    'GET /scim/v2/Users;x=y',
    'GET /scim/v2/Users/?filter=%',
    'GET /scim/v2/Users?filter=%ff%fe%00',
    'GET /scim/v2/Users?%',
    'GET /scim/v2/Users?&&&=&=&filter',
    'GET /scim/v2/Users?#fragment',
    'GET http://evil.example/scim/v2/Users',
    'GET /scim/v2/Schemas/%zz',
    'GET /connections/%zz/scim/v2/Users',
    'GET /connections/%2e%2e/scim/v2/Users',
    'OPTIONS *',
  ])('a request with the line %s answers a status below 500 without an HTML page', async (line) => {
    const raw = await openRaw(scim.port);
    raw.write(rawRequest(line.trim(), { ...AUTH, Connection: 'close' }));
    const wire = await raw.read(() => false, 2000);
    raw.close();
    expect(wire).toMatch(/^HTTP\/1\.1 [1234]\d\d /);
    expect(wire).not.toMatch(/<html|^Set-Cookie|root:x/im);
    parseAnswers(wire);
  });

  test('GET and DELETE of an id with an encoded slash, NUL or space answer 404', async () => {
    const { id } = await scim.user('slashed@x.example');
    for (const path of [
      `/Users/x%2F${id}`,
      `/Users/${id}%00`,
      `/Users/%00${id}`,
      `/Users/${id}%20`,
      `/Users/${id},x`,
    ]) {
      expect((await scim.get(path)).status).toBe(404);
      expect((await scim.delete(path)).status).toBe(404);
    }
    expect((await scim.get(`/Users/${id.toUpperCase()}`)).status).toBe(404);
    expect((await scim.get(`/Groups/${id}`)).status).toBe(404);
  });

  test('a safe X-Request-Id is returned; one with unsafe characters or of a form that the bridge itself uses is replaced', async () => {
    const echoed = async (value: string): Promise<string> =>
      (await scim.get('/Users?count=0', { 'x-request-id': value })).headers['x-request-id'] as string;
    expect(await echoed('push-4711.a:b')).toBe('push-4711.a:b');
    for (const value of ['', 'a b', 'a;b', '<script>', 'x'.repeat(65), 'a,b', '"', '{"a":1}', 'é']) {
      expect(await echoed(value)).toMatch(/^[0-9a-z]{12}$/);
    }
    // The bridge itself uses request ids of this form, so the log would attribute the push to an operator or to a reconcile.
    for (const value of [
      'approval:main.1-2',
      'rejection:main.1-2',
      'withdrawal:main.1-2',
      'retry:ann',
      'restore',
      'plan:p1',
      '-',
    ])
      expect(await echoed(value)).toMatch(/^[0-9a-z]{12}$/);
    const injected = 'GET /scim/v2/Users HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\rSet-Cookie: evil\r\n\r\n';
    const raw = await openRaw(scim.port);
    raw.write(injected);
    expect(await raw.read((text) => text.includes('\r\n\r\n'), 2000)).not.toMatch(/^Set-Cookie/im);
    raw.close();
    expect(bridge.logs.some((line) => line.includes('Set-Cookie: evil'))).toBe(false);
  });

  test('a request with a header of 20 KB, or with 3,000 headers, answers 431', async () => {
    const [long] = await exchange(
      scim.port,
      rawRequest(`GET ${USERS}`, { ...AUTH, 'X-Long': 'x'.repeat(20_000) }),
    );
    expect(long?.status).toBe(431);
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`X-${n}`, 'y']));
    expect((await exchange(scim.port, rawRequest(`GET ${USERS}`, { ...AUTH, ...many })))[0]?.status).toBe(
      431,
    );
  });

  test('GET with X-HTTP-Method-Override: DELETE answers 200 and deletes nothing', async () => {
    const { id } = await scim.user('override@x.example');
    for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
      expect((await scim.get(`/Users/${id}?_method=DELETE`, { [name]: 'DELETE' })).status).toBe(200);
    }
    expect((await scim.get(`/Users/${id}`)).status).toBe(200);
  });

  test('bytes that are not HTTP/1.1 get a 4xx or 5xx answer, or the connection is closed', async () => {
    for (const garbage of [
      '\x16\x03\x01\x02\x00',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'GET\r\n\r\n',
      '\0\0\0\0',
      'GET / HTTP/9.9\r\n\r\n',
    ]) {
      const raw = await openRaw(scim.port);
      raw.write(garbage);
      raw.socket.end();
      expect(await raw.read(() => false, 500)).toMatch(/^(HTTP\/1\.1 [45]0\d |$)/);
      raw.close();
    }
  });
});
