// Tests unusual JSON values (RFC 8259): each is refused with 400 or stored exactly.
import {
  createClient,
  CUSTOM,
  GROUP,
  startApi,
  USER,
  userBody,
  type Client,
  type Json,
} from '../scim-conformance/client.ts';
import type { Bridge } from '../../support/build-bridge.ts';
import { expectUnharmed } from './attack.ts';

let bridge: Bridge;
let scim: Client;
beforeAll(async () => {
  ({ bridge, scim } = await startApi());
});
afterAll(() => bridge.stop());
afterEach(() => expectUnharmed(scim));

/** Expects that the value is refused with 400, or stored and returned by GET exactly as sent. */
async function refusedOrKept(text: string, read: (user: Json) => unknown, sent: unknown): Promise<void> {
  const answer = await scim.post('/Users', text);
  if (answer.status === 400) return;
  expect(answer.status).toBe(201);
  expect(read((await scim.get(`/Users/${answer.body.id}`)).body)).toEqual(sent);
}

describe('text with lone surrogates or invalid bytes (RFC 3629)', () => {
  const lone = '\\ud800';

  test.each([
    ['userName', `{"schemas":["${USER}"],"userName":"a${lone}b"}`],
    ['externalId', `{"schemas":["${USER}"],"userName":"s1","externalId":"${lone}"}`],
    ['an e-mail address', `{"schemas":["${USER}"],"userName":"s2","emails":[{"value":"${lone}@x.example"}]}`],
    ['displayName', `{"schemas":["${USER}"],"userName":"s3","displayName":"${lone}"}`],
    ['a user attribute', `{"schemas":["${USER}"],"userName":"s4","${CUSTOM}":{"region":"${lone}"}}`],
    ['userName by its second half alone', `{"schemas":["${USER}"],"userName":"\\udc00"}`],
  ])('a POST of a user with a lone surrogate in %s answers 201 or 400', async (_where, body) => {
    expect([201, 400]).toContain((await scim.post('/Users', body)).status);
  });

  test('PUT and PATCH of a user with a lone surrogate in userName answer 200 or 400', async () => {
    const { id } = await scim.user('surrogate@x.example');
    const put = await scim.put(`/Users/${id}`, `{"schemas":["${USER}"],"userName":"${lone}"}`);
    expect([200, 400]).toContain(put.status);
    const patch = `{"Operations":[{"op":"replace","path":"userName","value":"${lone}"}]}`;
    expect([200, 400]).toContain((await scim.send('PATCH', `/Users/${id}`, patch)).status);
  });

  test.each([
    ['displayName', `{"schemas":["${GROUP}"],"displayName":"${lone}"}`],
    ['externalId', `{"schemas":["${GROUP}"],"displayName":"g1","externalId":"${lone}"}`],
    ['a member', `{"schemas":["${GROUP}"],"displayName":"g2","members":[{"value":"${lone}"}]}`],
  ])('a POST of a group with a lone surrogate in %s answers 201 or 400', async (_where, body) => {
    expect([201, 400]).toContain((await scim.post('/Groups', body)).status);
  });

  test('a PATCH of a group with a lone surrogate as member value answers 204 or 400', async () => {
    const { id } = await scim.group('surrogates');
    for (const op of ['add', 'remove', 'replace']) {
      const body = `{"Operations":[{"op":"${op}","path":"members","value":[{"value":"${lone}"}]}]}`;
      expect([204, 400]).toContain((await scim.send('PATCH', `/Groups/${id}`, body)).status);
    }
  });

  test.each(['userName eq "\\ud800"', 'externalId eq "\\udfff"', 'emails.value eq "\\ud800"'])(
    'a list with a lone surrogate in the filter %s answers 200 or 400',
    async (filter) => {
      expect([200, 400]).toContain((await scim.get(`/Users?filter=${encodeURIComponent(filter)}`)).status);
    },
  );

  test.each(['userName', 'displayName', 'externalId'])(
    'a control character in %s answers 400 invalidValue on POST, PUT and PATCH, because it could forge lines on a terminal',
    async (name) => {
      const { id } = await scim.user(`plain-${name}@x.example`);
      const group = await scim.group(`plain-${name}`);
      for (const control of ['\u0000', '\t', '\n', '\r', '\u001b[2J', '\u007f', '\u009b', '\u2028']) {
        const value = `a${control}b`;
        const refusals = [
          await scim.post('/Users', userBody(`control-${name}@x.example`, { [name]: value })),
          await scim.put(`/Users/${id}`, userBody(`plain-${name}@x.example`, { [name]: value })),
          await scim.patch(`/Users/${id}`, { op: 'replace', path: name, value }),
          await scim.patch(`/Users/${id}`, { op: 'add', value: { [name]: value } }),
        ];
        if (name !== 'userName') {
          const body = { schemas: [GROUP], displayName: `control-${name}`, [name]: value };
          refusals.push(await scim.post('/Groups', body), await scim.put(`/Groups/${group.id}`, body));
          refusals.push(await scim.patch(`/Groups/${group.id}`, { op: 'replace', path: name, value }));
        }
        for (const refusal of refusals) {
          expect(refusal).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
          expect(refusal.body.detail).toContain(`"${name}"`);
        }
      }
      expect((await scim.get(`/Users/${id}`)).body.userName).toBe(`plain-${name}@x.example`);
    },
  );

  test('NUL, line breaks and control characters in other attributes and in member values are stored and returned unchanged', async () => {
    const addresses = [{ formatted: 'Main Street 1\r\n1000 Town\u001f', type: 'work' }];
    const { id } = await scim.user('several-lines@x.example', { addresses, title: 'a\u0000b' });
    expect((await scim.get(`/Users/${id}`)).body).toMatchObject({ addresses, title: 'a\u0000b' });
    const group = await scim.group('with odd members', ['later\u0000\n one', 'not here\u0000']);
    expect(
      (await scim.get(`/Groups/${group.id}`)).body.members.map(({ value }: Json) => value).sort(),
    ).toEqual(['later\u0000\n one', 'not here\u0000'].sort());
  });

  test('a body with bytes that are not UTF-8 answers 400 invalidSyntax (RFC 8259 §8.1)', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`{"schemas":["${USER}"],"userName":"broken-`),
      Buffer.from([0xff, 0xfe, 0xc3]),
      Buffer.from('"}'),
    ]);
    const answer = await scim.post('/Users', bytes);
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidSyntax' } });
  });
});

describe('numbers (RFC 8259 §6)', () => {
  test.each(['1e400', '-1e400', '1e308'])(
    'a POST with the number %s in a user attribute is refused, or stored and returned with the same value',
    async (number) => {
      const text = `{"schemas":["${USER}"],"userName":"n${number}","${CUSTOM}":{"level":${number}}}`;
      await refusedOrKept(text, (user) => user[CUSTOM].level, Number(number));
    },
  );

  test.each(['1e400', '-0', '12345678901234567890', '9007199254740993', '0.1e1'])(
    'the number %s sent for a text attribute answers 400, or is returned as text with the same digits',
    async (number) => {
      const text = `{"schemas":["${USER}"],"userName":"t${number}","title":${number}}`;
      const answer = await scim.post('/Users', text);
      if (answer.status === 400) return;
      const digits = Number(number) === 1 ? '1' : number;
      expect(answer.body.title).toBe(digits === '-0' ? '0' : digits);
    },
  );

  test.each(['12345678901234567890', '9007199254740993'])(
    'the integer %s, too large for a double, answers 400 as a user attribute or is returned with the same digits',
    async (number) => {
      const text = `{"schemas":["${USER}"],"userName":"i${number}","${CUSTOM}":{"level":${number}}}`;
      const answer = await scim.post('/Users', text);
      if (answer.status === 400) return;
      expect(answer.text).toContain(`"level":${number}`);
    },
  );

  test('minus zero as a user attribute is stored and returned as 0', async () => {
    const text = `{"schemas":["${USER}"],"userName":"zero","${CUSTOM}":{"level":-0}}`;
    expect((await scim.post('/Users', text)).text).toContain('"level":0');
  });

  test.each(['startIndex', 'count'])(
    '%s of any size in a .search body answers 200 or 400 (RFC 7644 §3.4.3)',
    async (name) => {
      for (const number of [
        '1e15',
        '9007199254740993',
        '1e19',
        '1e21',
        '1e300',
        '1e400',
        '-1e300',
        '-0',
        '1.5',
        '"1e9"',
      ]) {
        const body = `{"schemas":["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],"${name}":${number}}`;
        expect([200, 400]).toContain((await scim.post('/Users/.search', body)).status);
      }
    },
  );

  test.each(['startIndex', 'count'])(
    '%s of any size in a query answers 200 or 400 (RFC 7644 §3.4.2.4)',
    async (name) => {
      const numbers = [
        '999999999999999',
        '9007199254740993',
        '99999999999999999999',
        '-999999999999999',
        '1e3',
        'NaN',
      ];
      for (const number of [...numbers, 'Infinity', '0x10', '', ' 1', '1;2', '%00', '１']) {
        expect([200, 400]).toContain((await scim.get(`/Users?${name}=${encodeURIComponent(number)}`)).status);
      }
    },
  );
});

describe('bodies of an unexpected JSON type', () => {
  test.each([
    'null',
    '[]',
    '[{}]',
    '"text"',
    '1',
    'true',
    ' ',
    '{',
    '}',
    '{"a":1',
    "{'a':1}",
    'undefined',
    'NaN',
  ])('the body %j answers 400 invalidSyntax on each endpoint that takes a body', async (body) => {
    const { id } = await scim.user(`shape-${Math.random()}`);
    const { id: group } = await scim.group(`shape-${Math.random()}`);
    for (const [method, path] of [
      ['POST', '/Users'],
      ['POST', '/Groups'],
      ['PUT', `/Users/${id}`],
      ['PATCH', `/Users/${id}`],
      ['PUT', `/Groups/${group}`],
      ['PATCH', `/Groups/${group}`],
      ['POST', '/Users/.search'],
    ] as const) {
      const answer = await scim.send(method, path, body);
      expect([method, path, answer.status, answer.body.scimType]).toEqual([
        method,
        path,
        400,
        'invalidSyntax',
      ]);
    }
  });

  test('POST, PUT and PATCH without a body answer 400', async () => {
    const { id } = await scim.user('bodiless@x.example');
    for (const [method, path] of [
      ['POST', '/Users'],
      ['POST', '/Groups'],
      ['PUT', `/Users/${id}`],
      ['PATCH', `/Users/${id}`],
    ] as const) {
      expect((await scim.send(method, path, '')).status).toBe(400);
      expect((await scim.send(method, path)).status).toBe(400);
    }
  });

  test.each([
    ['userName', []],
    ['userName', {}],
    ['userName', [['a']]],
    ['userName', ''],
    ['userName', ' \t'],
    ['name', 'Jo Doe'],
    ['name', [{ givenName: 'a' }, { givenName: 'b' }]],
    ['name', { givenName: { toString: 'x' } }],
    ['emails', 'not-an-object'],
    ['emails', [[{ value: 'x' }]]],
    ['emails', [[]]],
    ['emails', { value: { value: 'x' } }],
    ['active', 'maybe'],
    ['active', [true, false]],
    ['active', {}],
    ['active', 1],
    [CUSTOM, 'text'],
    [CUSTOM, []],
    [CUSTOM, { region: { deep: 1 } }],
    [CUSTOM, { region: [{ deep: 1 }] }],
    [CUSTOM, { region: [[1]] }],
    ['schemas', {}],
    ['schemas', 'x'],
    ['schemas', [{}, null, 1, []]],
  ])('a POST whose attribute %s has the value %j answers 201 or 400', async (name, value) => {
    const body = userBody(`odd-${Math.random()}`, { [name]: value });
    expect([201, 400]).toContain((await scim.post('/Users', body)).status);
  });

  test('when a POST body has a JSON key twice, the last value is stored and returned (RFC 8259 §4)', async () => {
    const text = `{"schemas":["${USER}"],"userName":"first","userName":"last","active":true,"active":false,"ACTIVE":false}`;
    const answer = await scim.post('/Users', text);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ userName: 'last', active: false });
    expect(await scim.find('/Users', 'userName eq "first"')).toEqual([]);
    expect(await scim.find('/Users', 'userName eq "last"')).toHaveLength(1);
  });

  test('after the hostile bodies of this file a list of users under /connections/default/scim/v2 answers 200', async () => {
    const other = createClient(bridge.app.port, '/connections/default/scim/v2');
    expect((await other.get('/Users?count=0')).status).toBe(200);
  });
});
