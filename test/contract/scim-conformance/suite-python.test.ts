// Covers the Python suite scim2-tester (python-scim/scim2-tester, Apache-2.0) with checks of our own: it walks
// through the published schemas and writes, reads and removes every attribute that they name, strictly compared.
import { randomUUID } from 'node:crypto';
import type { CustomSchemaConfig } from '../../../src/config/schema/custom-schema.ts';
import {
  ENTERPRISE,
  ERROR,
  SEARCH,
  startProfiles,
  type Client,
  type Json,
  type ProfileName,
} from './client.ts';
import { discover, fill, isWritable, valueOf, type Described } from './schema-values.ts';
import type { Bridge } from '../../support/build-bridge.ts';

const URN = 'urn:acme:params:scim:schemas:2.0:Person';
const attribute = (name: string, more: object = {}): CustomSchemaConfig['attributes'][number] => ({
  name,
  type: 'string',
  description: '',
  required: false,
  caseExact: false,
  canonicalValues: [],
  referenceTypes: [],
  ...more,
});
/** One custom attribute of every type, so that the suite covers all of them. */
const schemas: CustomSchemaConfig[] = [
  {
    id: URN,
    name: 'Person',
    description: '',
    resourceType: 'User',
    required: false,
    attributes: [
      attribute('text'),
      attribute('number', { type: 'integer' }),
      attribute('fraction', { type: 'decimal' }),
      attribute('flag', { type: 'boolean' }),
      attribute('time', { type: 'dateTime' }),
      attribute('link', { type: 'reference', referenceTypes: ['external'] }),
      attribute('list', { multiValued: true }),
      attribute('place', {
        type: 'complex',
        subAttributes: [attribute('room'), attribute('floor', { type: 'integer' })],
      }),
    ],
  },
];

let bridge: Bridge;
let on: Record<ProfileName, Client>;
beforeAll(async () => {
  ({ bridge, on } = await startProfiles({ schemas }));
});
afterAll(() => bridge.stop());

describe.each(['rfc', 'auto', 'entra', 'okta'] as const)('profile %s', (profile) => {
  let scim: Client;
  let types: Described[];
  beforeAll(async () => {
    scim = on[profile];
    types = await discover(scim);
  });
  const typeOf = (name: string): Described => types.find((each) => each.name === name) as Described;

  describe('discovery documents', () => {
    test.each(['/ServiceProviderConfig', '/ResourceTypes', '/Schemas'])(
      '%s answers 405 to POST, PUT, PATCH and DELETE',
      async (path) => {
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
          expect([method, (await scim.send(method, path)).status]).toEqual([method, 405]);
        }
      },
    );

    test('every schema and resource type read by its id equals its entry in the list', async () => {
      for (const path of ['/Schemas', '/ResourceTypes']) {
        const { Resources, totalResults } = (await scim.get(path)).body;
        expect(totalResults).toBe(Resources.length);
        for (const each of Resources as Json[]) {
          expect((await scim.get(`${path}/${each.id}`)).body).toEqual(each);
          expect(each.meta.location).toBe(`${scim.root}${path}/${each.id}`);
        }
      }
    });

    test('an unknown id or address answers 404 with an error body', async () => {
      for (const path of ['/Schemas/', '/ResourceTypes/', '/Users/', '/Groups/', '/']) {
        const answer = await scim.get(path + randomUUID());
        expect(answer).toMatchObject({ status: 404, body: { schemas: [ERROR], status: '404' } });
      }
    });

    test('every schema that a resource type names, and the schemas of the discovery documents, are in /Schemas', async () => {
      const { Resources } = (await scim.get('/Schemas')).body;
      const ids: string[] = Resources.map(({ id }: Json) => id);
      for (const type of types)
        expect(ids).toEqual(
          expect.arrayContaining([type.schema, ...type.extensions.map(({ schema }) => schema)]),
        );
      const names: string[] = Resources.map(({ name }: Json) => name);
      expect(names).toEqual(expect.arrayContaining(['ServiceProviderConfig', 'ResourceType', 'Schema']));
    });

    test('each discovery document has only attributes that its schema defines', async () => {
      const of = (urn: string): string[] =>
        (typeOf('User').attributes.get(urn) ?? []).map(({ name }: Json) => String(name));
      for (const path of ['/ServiceProviderConfig', '/ResourceTypes/User', `/Schemas/${ENTERPRISE}`]) {
        const {
          schemas: [urn],
          meta: _,
          ...document
        } = (await scim.get(path)).body;
        const own = Object.keys(document).filter((key) => key !== 'schemas');
        expect(of(urn)).toEqual(expect.arrayContaining(own));
      }
    });
  });

  describe.each(['User', 'Group'])('a %s', (name) => {
    test('POST with the required attributes only, and POST with all attributes, return the resource as sent', async () => {
      for (const which of ['required', 'all'] as const) {
        const body = await fill(scim, typeOf(name), which);
        const { status, body: created } = await scim.post(typeOf(name).endpoint, body);
        expect(status).toBe(201);
        const { password: _, ...kept } = body;
        expect(created).toMatchObject(kept);
        expect((await scim.get(`${typeOf(name).endpoint}/${created.id}`)).body).toEqual(created);
      }
    });

    test('PUT with all attributes replaces the resource', async () => {
      const { endpoint } = typeOf(name);
      const { id } = (await scim.post(endpoint, await fill(scim, typeOf(name), 'required'))).body;
      const body = await fill(scim, typeOf(name), 'all');
      const { password: _, ...kept } = body;
      expect(await scim.put(`${endpoint}/${id}`, { ...body, id })).toMatchObject({ status: 200, body: kept });
    });

    test('GET, list and .search return the attributes that `attributes` names or `excludedAttributes` leaves', async () => {
      const { endpoint } = typeOf(name);
      const { id } = (await scim.post(endpoint, await fill(scim, typeOf(name), 'all'))).body;
      const [first, second] = name === 'User' ? ['name', 'displayName'] : ['displayName', 'members'];
      for (const [query, shown, hidden] of [
        [{ attributes: [first] }, first, second],
        [{ excludedAttributes: [second] }, first, second],
      ] as const) {
        const text = Object.entries(query).map(([key, names]) => `${key}=${names.join()}`).join(); // prettier-ignore
        const answers = [
          (await scim.get(`${endpoint}/${id}?${text}`)).body,
          ...[
            await scim.get(`${endpoint}?count=1000&${text}`),
            await scim.post(`${endpoint}/.search`, { schemas: [SEARCH], count: 1000, ...query }),
            await scim.post('/.search', { schemas: [SEARCH], count: 1000, ...query }),
          ].map(({ body }) => body.Resources.find((each: Json) => each.id === id)),
        ];
        for (const answer of answers) {
          expect(answer).toHaveProperty(shown);
          expect(answer).not.toHaveProperty(hidden);
        }
      }
    });

    test('PATCH adds, replaces and removes every writable attribute, and removing a required one answers 400 mutability', async () => {
      const { endpoint, schema, extensions, attributes } = typeOf(name);
      const { id } = (await scim.post(endpoint, await fill(scim, typeOf(name), 'required'))).body;
      const read = async (path: string[]): Promise<unknown> =>
        path.reduce((node: Json, key) => node?.[key], (await scim.get(`${endpoint}/${id}`)).body);
      const walk = async (urn: string, each: Json): Promise<void> => {
        const path = urn === schema ? each.name : `${urn}:${each.name}`;
        const place = urn === schema ? [each.name] : [urn, each.name];
        const send = async (op: string, value?: unknown): Promise<string> => {
          const { status, body } = await scim.patch(`${endpoint}/${id}`, { op, path, value });
          return status < 300 ? 'done' : String(body.scimType);
        };
        if (!isWritable(each)) {
          for (const op of ['add', 'replace', 'remove'])
            expect([path, op, await send(op, op === 'remove' ? undefined : 'x')]).toEqual([
              path,
              op,
              'mutability',
            ]);
          return;
        }
        const isShown = each.returned !== 'never';
        const set = async (op: string, value: unknown, expected = value): Promise<void> => {
          expect([path, op, await send(op, value)]).toEqual([path, op, 'done']);
          if (isShown) expect([path, await read(place)]).toEqual([path, expected]);
        };
        const added = await valueOf(scim, each);
        await set('add', added);
        await set('replace', await valueOf(scim, each));
        const removal = each.required ? 'mutability' : 'done';
        expect([path, await send('remove')]).toEqual([path, removal]);
        if (removal === 'done' && isShown) expect([path, (await read(place)) ?? []]).toEqual([path, []]);
      };
      for (const urn of [schema, ...extensions.map((extension) => extension.schema)])
        for (const each of attributes.get(urn) ?? []) await walk(urn, each);
    });

    test('an extension is added, replaced and removed as a whole by a PATCH with its URN as path', async () => {
      const { endpoint, extensions, attributes } = typeOf(name);
      const { id } = (await scim.post(endpoint, await fill(scim, typeOf(name), 'required'))).body;
      for (const { schema: path } of extensions) {
        const value: Json = {};
        for (const each of attributes.get(path) ?? []) value[each.name] = await valueOf(scim, each);
        const send = (op: string, given?: unknown) =>
          scim.patch(`${endpoint}/${id}`, { op, path, value: given });
        const after = async (op: string, given?: Json) => {
          // The suite also adds the schema's URN inside an extension value.
          const named = given && Object.keys(given).length > 0 ? { schemas: [path], ...given } : given;
          expect((await send(op, named)).status).toBeLessThan(300);
          return (await scim.get(`${endpoint}/${id}`)).body;
        };
        expect((await after('add', value))[path] ?? {}).toEqual(value);
        expect((await after('replace', value))[path] ?? {}).toEqual(value);
        expect(await after('remove')).not.toHaveProperty([path]);
      }
    });
  });
});
