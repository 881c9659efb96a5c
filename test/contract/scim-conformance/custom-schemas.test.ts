// Tests custom schemas of the settings: discovery, validation, filters, PATCH and sorting.
import { loadConfig } from '../../../src/config/load.ts';
import type { CustomSchemaConfig } from '../../../src/config/schema/custom-schema.ts';
import { eventually } from '../../support/eventually.ts';
import { ENV, folderWith } from '../../unit/config/settings-folder.ts';
import { createClient, GROUP, startApi, USER, userBody, type Client, type Json } from './client.ts';
import { buildBridge, type Bridge } from '../../support/build-bridge.ts';

const PERSON = 'urn:acme:params:scim:schemas:2.0:Person';
const TEAM = 'urn:acme:params:scim:schemas:2.0:Team';

/** Text of a settings file, so that the schemas get the defaults of keys that they omit. */
const SETTINGS = `
connections:
  default:
    tokens: [{ name: primary, secret: scim-secret-0123456789abcdef }]
    schemas:
      - id: ${PERSON}
        name: Person
        description: People as Acme knows them
        attributes:
          - { name: costCode, caseExact: true, required: true }
          - { name: badge, type: integer, mutability: immutable }
          - { name: seat, type: complex, subAttributes: [{ name: building }, { name: floor, type: integer }] }
          - { name: skills, multiValued: true }
          - name: phones
            type: complex
            multiValued: true
            subAttributes: [{ name: value }, { name: type, canonicalValues: [desk] }, { name: primary, type: boolean }]
          - { name: joined, type: dateTime }
          - { name: rating, type: decimal, returned: request }
          - { name: tag, returned: always }
          - { name: remote, type: boolean }
      - id: ${TEAM}
        name: Team
        resourceType: Group
        required: true
        attributes: [{ name: owner, required: true }, { name: members, multiValued: true }]
targets:
  main:
    url: https://acme.example.com
    token: platform-key-0123456789abcdef
    attributes:
      cost: { type: string, from: '${PERSON}:costCode' }
      floor: { type: number, from: '${PERSON}:seat.floor' }
      desks: { type: string_array, from: '${PERSON}:phones[type eq "desk"].value' }
`;

const settings = loadConfig({ env: ENV, cwd: folderWith({ 'config/bridge.yaml': SETTINGS }) });
const schemas = settings.connections.default?.schemas as CustomSchemaConfig[];
const person = (extra: object = {}): object => ({ [PERSON]: { costCode: 'A-1', ...extra } });

let bridge: Bridge;
let scim: Client;
beforeAll(async () => {
  ({ bridge, scim } = await startApi({
    configure: (config) => void Object.assign(config.connections.default ?? {}, { schemas }),
  }));
});
afterAll(() => bridge.stop());

const named = (resources: Json[]): string[] => resources.map(({ userName }) => String(userName)).sort();

describe('discovery of custom schemas', () => {
  test('/Schemas shows custom schemas with all characteristics, and /ResourceTypes lists them', async () => {
    const { body } = await scim.get(`/Schemas/${PERSON}`);
    expect(body).toMatchObject({ id: PERSON, name: 'Person', description: 'People as Acme knows them' });
    const seat = body.attributes.find(({ name }: Json) => name === 'seat');
    expect(seat).toEqual({
      name: 'seat',
      type: 'complex',
      multiValued: false,
      description: '',
      required: false,
      caseExact: false,
      mutability: 'readWrite',
      returned: 'default',
      uniqueness: 'none',
      subAttributes: [
        expect.objectContaining({ name: 'building', type: 'string', multiValued: false }),
        expect.objectContaining({ name: 'floor', type: 'integer', mutability: 'readWrite' }),
      ],
    });
    const [user, group] = (await scim.get('/ResourceTypes')).body.Resources;
    expect(user.schemaExtensions).toContainEqual({ schema: PERSON, required: false });
    expect(group.schemaExtensions).toEqual([{ schema: TEAM, required: true }]);
    const { Resources } = (await scim.get('/Schemas')).body;
    expect(Resources.map(({ id }: Json) => id)).toEqual(expect.arrayContaining([PERSON, TEAM]));
  });
});

describe('validation of custom attributes', () => {
  test('a user with all custom attributes is returned as sent, with the URN in schemas', async () => {
    const given = {
      costCode: 'A-1',
      badge: 7,
      seat: { building: 'north', floor: 3 },
      skills: ['sql', 'go'],
      phones: [{ value: '1', type: 'desk', primary: true }],
      joined: '2026-01-31T08:00:00Z',
      tag: 't',
      remote: true,
    };
    const { body } = await scim.post('/Users', userBody('all@x.example', { [PERSON]: given }));
    expect(body[PERSON]).toEqual(given);
    expect(body.schemas).toEqual([USER, PERSON]);
  });

  test.each([
    ['a required attribute missing', { badge: 1, costCode: undefined }],
    ['a required attribute blank', { costCode: ' ' }],
    ['text for an integer', { badge: 'seven' }],
    ['a fraction for an integer', { badge: 1.5 }],
    ['a list for one value', { joined: ['2026-01-31T08:00:00Z', '2026-02-01T08:00:00Z'] }],
    ['no date and time', { joined: 'yesterday' }],
    ['text for a complex value', { seat: 'north 3' }],
    ['a part of the wrong type', { seat: { floor: 'three' } }],
    ['an object for text', { tag: { a: 1 } }],
  ])('a POST of a user with %s answers 400 invalidValue and stores no user', async (_what, extra) => {
    const answer = await scim.post('/Users', userBody('bad@x.example', person(extra)));
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(await scim.find('/Users', 'userName eq "bad@x.example"')).toEqual([]);
  });

  test('a required extension that is left out in POST or removed by PATCH answers 400', async () => {
    const body = { schemas: [GROUP], displayName: 'team' };
    const answer = await scim.post('/Groups', body);
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(answer.body.detail).toContain(TEAM);
    const { body: team, status } = await scim.post('/Groups', { ...body, [TEAM]: { owner: 'jo' } });
    expect([status, team[TEAM], team.schemas]).toEqual([201, { owner: 'jo' }, [GROUP, TEAM]]);
    expect((await scim.patch(`/Groups/${team.id}`, { op: 'remove', path: TEAM })).status).toBe(400);
    expect(
      (await scim.patch(`/Groups/${team.id}`, { op: 'replace', path: `${TEAM}:owner`, value: 'al' })).status,
    ).toBe(204);
    expect((await scim.find('/Groups', `${TEAM}:owner eq "AL"`)).map(({ id }) => id)).toEqual([team.id]);
  });

  test('custom attribute names in any letter case, and numbers and booleans as text, are stored under their declared names and types', async () => {
    const sent = { [PERSON.toUpperCase()]: { COSTCODE: 'A-2', badge: '9', REMOTE: 'True' } };
    const { body } = await scim.post('/Users', userBody('case@x.example', sent));
    expect(body[PERSON]).toEqual({ costCode: 'A-2', badge: 9, remote: true });
  });

  test('empty text sent for a custom number, boolean or date, as OneLogin does, stores no value', async () => {
    const empty = { badge: '', remote: '', joined: '', seat: { floor: '', building: 'B' } };
    const created = await scim.post('/Users', userBody('empty@x.example', person(empty)));
    expect(created.body[PERSON]).toEqual({ costCode: 'A-1', seat: { building: 'B' } });
    const path = `${PERSON}:remote`;
    const set = await scim.patch(`/Users/${created.body.id}`, { op: 'add', path, value: true });
    expect(set.body[PERSON]).toHaveProperty('remote', true);
    const unset = await scim.patch(`/Users/${created.body.id}`, { op: 'replace', path, value: '' });
    expect(unset.body[PERSON]).not.toHaveProperty('remote');
  });
});

describe('PATCH of custom attributes', () => {
  const patched = async (name: string, extra: object, ...operations: object[]): Promise<Json> => {
    const { id } = await scim.user(`${name}@x.example`, person(extra));
    const answer = await scim.patch(`/Users/${id}`, ...operations);
    return answer.status === 200 ? answer.body[PERSON] : answer;
  };

  test.each([
    ['a value by path', { op: 'replace', path: `${PERSON}:costCode`, value: 'B-2' }, { costCode: 'B-2' }],
    ['a sub-attribute by path', { op: 'add', path: `${PERSON}:seat.floor`, value: 4 }, { seat: { building: 'n', floor: 4 } }],
    ['a complex value', { op: 'replace', path: `${PERSON}:seat`, value: { floor: 5 } }, { seat: { building: 'n', floor: 5 } }],
    ['a list', { op: 'add', path: `${PERSON}:skills`, value: ['go'] }, { skills: ['sql', 'go'] }],
    ['one value of a list', { op: 'remove', path: `${PERSON}:skills[value eq "sql"]` }, { costCode: 'A-1', seat: { building: 'n' }, phones: [{ value: '1', type: 'desk' }] }],
    ['a sub-attribute of the element that a value path selects', { op: 'replace', path: `${PERSON}:phones[type eq "desk"].value`, value: '9' }, { phones: [{ value: '9', type: 'desk' }] }],
    ['an element that a value path does not find is created', { op: 'add', path: `${PERSON}:phones[type eq "lab"].value`, value: '8' }, { phones: [{ value: '1', type: 'desk' }, { value: '8', type: 'lab' }] }],
    ['pathless, URN as key', { op: 'add', value: { [PERSON]: { tag: 'new' } } }, { tag: 'new' }],
    ['pathless, path as key', { op: 'replace', value: { [`${PERSON}:remote`]: 'False' } }, { remote: false }],
    ['the extension as path', { op: 'replace', path: PERSON, value: { remote: true } }, { remote: true }],
  ])('PATCH of custom attributes, %s: %j gives the values %j', async (what, operation, expected) => {
    const before = { seat: { building: 'n' }, skills: ['sql'], phones: [{ value: '1', type: 'desk' }] };
    const after = await patched(what.replaceAll(/\W/g, '-'), before, operation);
    expect(after).toEqual({ costCode: 'A-1', ...(what === 'one value of a list' ? {} : before), ...expected });
  }); // prettier-ignore

  test.each([
    ['required', 'mutability', { op: 'remove', path: `${PERSON}:costCode` }],
    ['type', 'invalidValue', { op: 'replace', path: `${PERSON}:badge`, value: 'x' }],
    ['form', 'invalidValue', { op: 'replace', path: `${PERSON}:joined`, value: 'soon' }],
  ])(
    'a PATCH that violates the declared %s of a custom attribute answers 400 %s',
    async (what, scimType, operation) => {
      expect(await patched(`breach-${what}`, {}, operation)).toMatchObject({
        status: 400,
        body: { scimType },
      });
    },
  );
});

test('PATCHes of a custom group attribute named "members" change it, and the members of the group stay', async () => {
  const group = { displayName: 'crew', members: [{ value: 'jo' }], [TEAM]: { owner: 'jo' } };
  const { id } = (await scim.post('/Groups', { schemas: [GROUP, TEAM], ...group })).body;
  for (const [operation, listed] of [
    [{ op: 'replace', path: `${TEAM}:members`, value: ['x', 'y'] }, ['x', 'y']],
    [{ op: 'add', value: { [TEAM]: { members: ['z'] } } }, ['x', 'y', 'z']],
    [{ op: 'remove', path: `${TEAM}:members` }, undefined],
  ] as const) {
    expect((await scim.patch(`/Groups/${id}`, operation)).status).toBe(204);
    const { body } = await scim.get(`/Groups/${id}`);
    expect([body[TEAM].members, body.members]).toEqual([listed, [{ value: 'jo' }]]);
  }
});

describe('an immutable attribute (RFC 7643 §7)', () => {
  test('an immutable custom attribute can be set once and repeated by PATCH; changing or removing it answers 400 mutability', async () => {
    const { id } = await scim.user('immutable@x.example', person());
    const path = `${PERSON}:badge`;
    const set = (op: string, value?: unknown) => scim.patch(`/Users/${id}`, { op, path, value });
    expect((await set('add', 1)).body[PERSON].badge).toBe(1);
    expect((await set('replace', 1)).status).toBe(200);
    for (const refused of [await set('replace', 2), await set('remove')])
      expect(refused).toMatchObject({ status: 400, body: { scimType: 'mutability' } });
  });

  test('a PUT that repeats or omits an immutable custom attribute keeps it; a changed value answers 400 mutability (RFC 7644 §3.5.1)', async () => {
    const { id } = await scim.user('put@x.example', person({ badge: 3 }));
    const put = (badge?: number) => scim.put(`/Users/${id}`, userBody('put@x.example', person({ badge })));
    expect((await put(3)).status).toBe(200);
    expect((await put()).body[PERSON].badge).toBe(3);
    expect(await put(4)).toMatchObject({ status: 400, body: { scimType: 'mutability' } });
    expect((await scim.get(`/Users/${id}`)).body[PERSON].badge).toBe(3);
  });
});

describe('filters and sorting', () => {
  beforeAll(async () => {
    for (const [name, costCode, floor, joined] of [
      ['f1', 'x', 1, '2026-01-01T00:00:00Z'],
      ['f2', 'X', 2, '2026-06-01T00:00:00+02:00'],
      ['f3', 'y', 10, undefined],
    ] as const) {
      const extra = {
        costCode,
        seat: { floor, building: 'filter' },
        joined,
        phones: [{ value: name, type: 'desk' }],
      };
      await scim.user(`${name}@x.example`, person(extra));
    }
  });

  test.each([
    [`${PERSON}:costCode eq "x"`, ['f1']],
    [`${PERSON}:seat.floor gt 1 and ${PERSON}:seat.building eq "FILTER"`, ['f2', 'f3']],
    [`${PERSON}:joined lt "2026-06-01T00:00:00Z" and ${PERSON}:seat.building eq "filter"`, ['f1', 'f2']],
    [`${PERSON}:phones[type eq "desk" and value sw "f"]`, ['f1', 'f2', 'f3']],
    [`${PERSON}:phones eq "f3"`, ['f3']],
    [`${PERSON.toLowerCase()}:COSTCODE eq "y"`, ['f3']],
  ])('the filter %s on custom attributes finds the users %j', async (filter, expected) => {
    expect(named(await scim.find('/Users', filter))).toEqual(expected.map((name) => `${name}@x.example`));
  });

  test('a filter that compares a custom integer with text answers 400 invalidFilter', async () => {
    const answer = await scim.get(`/Users?filter=${encodeURIComponent(`${PERSON}:seat.floor eq "high"`)}`);
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } });
  });

  test('sortBy on a custom integer sorts by number: 2 before 10', async () => {
    const query = new URLSearchParams({
      filter: `${PERSON}:seat.building eq "filter"`,
      sortBy: `${PERSON}:seat.floor`,
      sortOrder: 'descending',
    });
    const { Resources } = (await scim.get(`/Users?${query.toString()}`)).body;
    expect(Resources.map((each: Json) => each[PERSON].seat.floor)).toEqual([10, 2, 1]);
  });
});

describe('attributes in answers (RFC 7643 §7, returned)', () => {
  let id: string;
  beforeAll(async () => {
    const created = await scim.user('shown@x.example', person({ rating: 4.5, tag: 'always', remote: true }));
    expect(created[PERSON]).toEqual({ costCode: 'A-1', tag: 'always', remote: true });
    id = created.id;
  });
  const shown = async (query: string): Promise<unknown> =>
    (await scim.get(`/Users/${id}?${query}`)).body[PERSON];

  test.each([
    ['', { costCode: 'A-1', tag: 'always', remote: true }],
    [`attributes=${PERSON}:rating`, { tag: 'always', rating: 4.5 }],
    [`attributes=${PERSON}:remote,userName`, { tag: 'always', remote: true }],
    ['attributes=userName', { tag: 'always' }],
    [`attributes=${PERSON}`, { costCode: 'A-1', tag: 'always', remote: true }],
    [`excludedAttributes=${PERSON}:tag,${PERSON}:remote`, { costCode: 'A-1', tag: 'always' }],
    [`excludedAttributes=${PERSON}`, { tag: 'always' }],
  ])('GET and list with the parameters "%s" return the custom attributes %j', async (query, expected) => {
    expect(await shown(query)).toEqual(expected);
    const list = await scim.get(
      `/Users?filter=${encodeURIComponent('userName eq "shown@x.example"')}&${query}`,
    );
    expect(list.body.Resources[0][PERSON]).toEqual(expected);
  });
});

test('custom attributes reach the platform, and a user without an attribute that became required later can still be deactivated', async () => {
  const attributes = settings.targets.main?.attributes ?? {};
  const whole = await buildBridge({
    configure: (config) => {
      Object.assign(config.connections.default ?? {}, { schemas });
      Object.assign(config.targets.main ?? {}, { attributes });
    },
  });
  const { idp, platform, config } = whole;
  try {
    const extra = person({ seat: { floor: 3 }, phones: [{ value: '1', type: 'desk' }] });
    const id = await idp.createUser('mapped@x.example', extra);
    const user = await eventually('the person is active', async () => {
      const found = await platform.user('mapped@x.example');
      return found?.active && found;
    });
    expect(user.attributes).toMatchObject({ cost: 'A-1', floor: 3, desks: ['1'] });
    // The operator makes another attribute required; then a user without it is deactivated.
    const stricter = structuredClone(schemas);
    Object.assign(stricter[0]?.attributes.find(({ name }) => name === 'remote') ?? {}, { required: true });
    Object.assign(config.connections.default ?? {}, { schemas: stricter });
    const { port } = await whole.another('api');
    const strict = createClient(port);
    expect((await strict.post('/Users', userBody('new@x.example', person()))).status).toBe(400);
    const leave = await strict.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    expect(leave).toMatchObject({ status: 200, body: { active: false } });
    const broken = await strict.patch(`/Users/${id}`, {
      op: 'replace',
      path: `${PERSON}:joined`,
      value: 'soon',
    });
    expect(broken).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
  } finally {
    await whole.stop();
  }
});
