// Compares the announcements of /Schemas with the behaviour, attribute by attribute and in every profile (RFC 7643 §2.2 and §7).
import { randomUUID } from 'node:crypto';
import {
  ENTERPRISE,
  PROFILES,
  startProfiles,
  USER,
  type Client,
  type Json,
  type ProfileName,
} from './client.ts';
import { discover, fill, isWritable, type Described } from './schema-values.ts';
import type { Bridge } from '../../support/build-bridge.ts';

let bridge: Bridge;
let on: Record<ProfileName, Client>;
beforeAll(async () => {
  ({ bridge, on } = await startProfiles());
});
afterAll(() => bridge.stop());

interface Part {
  urn: string;
  parent: Json;
  part: Json;
  /** Returns the path as in a filter or a PATCH. */
  path: string;
}

/** Returns every simple attribute and sub-attribute of a resource type. */
function partsOf({ schema, extensions, attributes }: Described): Part[] {
  return [schema, ...extensions.map((each) => each.schema)].flatMap((urn) =>
    (attributes.get(urn) ?? []).flatMap((parent: Json): Part[] => {
      const path = urn === schema ? parent.name : `${urn}:${parent.name}`;
      const parts = (parent.subAttributes ?? []) as Json[];
      return parts.length === 0
        ? [{ urn, parent, part: parent, path }]
        : parts.map((part) => ({ urn, parent, part, path: `${path}.${part.name}` }));
    }),
  );
}

const swapCase = (text: string): string =>
  text.replace(/[a-z]/gi, (each) => (each === each.toLowerCase() ? each.toUpperCase() : each.toLowerCase()));

describe.each(PROFILES)('profile %s', (profile) => {
  let scim: Client;
  let types: Described[];
  beforeAll(async () => {
    scim = on[profile];
    types = await discover(scim);
  });
  const typeOf = (name: string): Described => types.find((each) => each.name === name) as Described;
  const valueAt = (resource: Json, { urn, parent, part }: Part): Json => {
    const holder = urn in resource ? resource[urn] : resource;
    const value = Array.isArray(holder?.[parent.name]) ? holder[parent.name][0] : holder?.[parent.name];
    return part === parent || value === undefined ? value : value[part.name];
  };

  describe.each(['User', 'Group'])('%s', (name) => {
    let resource: Json;
    const address = (): string => `${typeOf(name).endpoint}/${resource.id}`;
    beforeAll(async () => {
      const body = await fill(scim, typeOf(name), 'all');
      // `primary` and similar sub-attributes have values of one kind only.
      resource = (await scim.post(typeOf(name).endpoint, body)).body;
      if (name === 'User') await scim.group(randomUUID(), [resource.id]);
      resource = (await scim.get(address())).body;
    });

    test('every announced attribute is returned with its announced type, except attributes announced as returned never', () => {
      const types: Record<string, string> = { boolean: 'boolean', integer: 'number', decimal: 'number' };
      for (const each of partsOf(typeOf(name))) {
        const value = valueAt(resource, each);
        if (each.part.returned === 'never') expect([each.path, value]).toEqual([each.path, undefined]);
        // manager.displayName is readOnly, and the bridge does not know its value.
        else if (each.path !== `${ENTERPRISE}:manager.displayName`)
          expect([each.path, typeof value]).toEqual([each.path, types[each.part.type] ?? 'string']);
      }
    });

    test('a filter with swapped letter case finds the resource exactly if the attribute is announced with caseExact false', async () => {
      for (const each of partsOf(typeOf(name))) {
        const value = valueAt(resource, each);
        const { type, caseExact } = each.part;
        if (typeof value !== 'string' || type === 'dateTime' || swapCase(value) === value) continue;
        const filter = `id eq "${resource.id}" and ${each.path} eq "${swapCase(value)}"`;
        expect([each.path, (await scim.find(typeOf(name).endpoint, filter)).length]).toEqual([
          each.path,
          caseExact ? 0 : 1,
        ]);
      }
    });

    test('PATCH of an attribute announced as readOnly or immutable answers 400 mutability and changes nothing', async () => {
      for (const each of partsOf(typeOf(name))) {
        if (isWritable(each.part) && each.part.mutability !== 'immutable') continue;
        const value = each.part.type === 'reference' ? `${scim.root}/Users/x` : 'another';
        const answer = await scim.patch(address(), { op: 'replace', path: each.path, value });
        expect([each.path, answer.status, answer.body?.scimType]).toEqual([each.path, 400, 'mutability']);
      }
      expect((await scim.get(address())).body).toEqual(resource);
    });

    test('PATCH add of a value of the wrong type answers 400 invalidValue for every writable attribute', async () => {
      const wrong: Record<string, unknown> = {
        boolean: 'maybe',
        integer: 1.5,
        decimal: 'many',
        dateTime: '2026-13-01T00:00:00Z',
        binary: 'not base64!',
        reference: 'not a URI',
        string: { no: 'text' },
      };
      for (const { path, parent, part } of partsOf(typeOf(name))) {
        if (part.mutability !== 'readWrite' || parent.mutability !== 'readWrite') continue;
        if (parent.name === 'members') continue;
        const at = part === parent ? path : path.slice(0, -part.name.length - 1);
        const bad = wrong[part.type];
        const value = part === parent ? bad : { [part.name]: bad };
        const answer = await scim.patch(address(), { op: 'add', path: at, value: parent.multiValued ? [value] : value }); // prettier-ignore
        expect([path, answer.status, answer.body?.scimType]).toEqual([path, 400, 'invalidValue']);
      }
    });

    test('POST with a value that another resource has answers 409 for exactly the attributes announced as unique', async () => {
      const { endpoint } = typeOf(name);
      for (const each of partsOf(typeOf(name))) {
        if (each.part !== each.parent || each.part.multiValued || each.part.type !== 'string') continue;
        if (each.urn !== typeOf(name).schema) continue;
        const body = await fill(scim, typeOf(name), 'required');
        const second = { ...body, [each.part.name]: resource[each.part.name] ?? 'x' };
        const answer = await scim.post(endpoint, second);
        expect([each.path, answer.status]).toEqual([each.path, each.part.uniqueness === 'none' ? 201 : 409]);
      }
    });
  });

  test('PATCH of members.value of a present member answers 400 mutability, and 204 if it repeats the value (RFC 7643 §4.2)', async () => {
    const [ada, bob] = [
      await scim.user(`${randomUUID()}@x.example`),
      await scim.user(`${randomUUID()}@x.example`),
    ];
    const group = await scim.group(randomUUID(), [ada.id]);
    const at = `/Groups/${group.id}`;
    for (const path of [`members[value eq "${ada.id}"].value`, 'members.value']) {
      for (const op of ['replace', 'add'])
        expect(await scim.patch(at, { op, path, value: bob.id })).toMatchObject({
          status: 400,
          body: { scimType: 'mutability' },
        });
    }
    expect(await scim.patch(at, { op: 'remove', path: 'members.value' })).toMatchObject({ status: 400 });
    const again = { op: 'replace', path: `members[value eq "${ada.id}"].value`, value: ada.id };
    expect((await scim.patch(at, again)).status).toBe(204);
    expect((await scim.get(at)).body).toEqual(group);
  });

  test('deleting a nested group removes it from the members of its parent groups and changes their versions', async () => {
    const child = await scim.group(randomUUID());
    const other = await scim.group(randomUUID());
    const parent = await scim.group(randomUUID(), [child.id, other.id]);
    expect(parent.members).toHaveLength(2);
    expect((await scim.delete(`/Groups/${child.id}`)).status).toBe(204);
    const { body } = await scim.get(`/Groups/${parent.id}`);
    expect(body.members.map(({ value }: Json) => value)).toEqual([other.id]);
    expect(body.meta.version).not.toBe(parent.meta.version);
    expect(await scim.find('/Groups', `members.value eq "${child.id}"`)).toEqual([]);
  });

  test('PATCH add with a single object appends it to a multi-valued attribute (RFC 7644 §3.5.2.1)', async () => {
    const user = await scim.user(`${randomUUID()}@x.example`);
    const at = `/Users/${user.id}`;
    const home = { value: 'home@x.example', type: 'home' };
    const other = { value: 'other@x.example', type: 'other' };
    expect((await scim.patch(at, { op: 'add', path: 'emails', value: home })).status).toBeLessThan(300);
    expect((await scim.patch(at, { op: 'add', value: { emails: other } })).status).toBeLessThan(300);
    expect((await scim.get(at)).body.emails).toEqual([...user.emails, home, other]);
  });

  test.each([
    'emails [7]',
    'emails [type eq "work"]',
    'nope[7]',
    'nope[ab',
    'emails[type eq "work"]x',
    'a b',
  ])('PATCH with the path %s answers 400 invalidPath', async (path) => {
    const user = await scim.user(`${randomUUID()}@x.example`);
    const answer = await scim.patch(`/Users/${user.id}`, { op: 'replace', path, value: 'x' });
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidPath' } });
  });

  test('an empty filter, or a filter with a space before its bracket, answers 400 invalidFilter', async () => {
    for (const filter of ['', '%20', 'emails%20%5Btype%20eq%20%22work%22%5D'])
      for (const endpoint of ['/Users', '/Groups'])
        expect(await scim.get(`${endpoint}?filter=${filter}`)).toMatchObject({
          status: 400,
          body: { scimType: 'invalidFilter' },
        });
    const search = { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], filter: '' };
    expect(await scim.post('/.search', search)).toMatchObject({ status: 400 });
  });

  test('certificates in base64 and base64url, and absolute and relative photo references, are returned as sent', async () => {
    const values = {
      x509Certificates: [{ value: 'MIIDQzCCAqygAwIBAgICEAAwDQYJKoZIhvcNAQEFBQAwTjE=' }, { value: 'a-_b' }],
      photos: [
        { value: 'https://photos.example/F%20x?y=1#z', type: 'photo' },
        { value: '../p/1', type: 'thumbnail' },
      ],
      profileUrl: '',
    };
    const answer = await scim.post('/Users', {
      schemas: [USER],
      userName: `${randomUUID()}@x.example`,
      ...values,
    });
    expect(answer).toMatchObject({ status: 201, body: values });
  });
});
