// Tests the discovery documents: ServiceProviderConfig, ResourceTypes and Schemas.
import { describe, expect, test } from '@jest/globals';
import {
  parseResource,
  resourceTypeDocuments,
  schemaDocuments,
  serviceProviderConfig,
  userResourceType,
} from '../../../../src/scim/index.ts';
import { ATTRIBUTES, auto, ENTERPRISE, GROUP, groupType, USER, userType } from '../sample.ts';

const BASE = 'https://h/scim/v2';
const types = [userType, groupType];

test('ServiceProviderConfig announces patch, filter and etag, and no password change (RFC 7643 §5)', () => {
  const bulk = { maxOperations: 10, maxPayloadSize: 1000 };
  const pagination = { defaultPageSize: 10, maxPageSize: 500 };
  const config = serviceProviderConfig({ baseUrl: BASE, bulk, maxResults: 500, pagination });
  expect(config).toMatchObject({
    patch: { supported: true },
    bulk: { supported: true, ...bulk },
    filter: { supported: true, maxResults: 500 },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [{ type: 'oauthbearertoken' }],
    meta: { location: `${BASE}/ServiceProviderConfig` },
    // RFC 9865 §4
    pagination: { cursor: true, index: true, defaultPaginationMethod: 'index', ...pagination },
  });
});

test('/ResourceTypes names the schemas of each type (RFC 7643 §6)', () => {
  expect(resourceTypeDocuments(types, BASE)).toMatchObject([
    {
      id: 'User',
      endpoint: '/Users',
      schema: USER,
      schemaExtensions: [
        { schema: ENTERPRISE, required: false },
        { schema: ATTRIBUTES, required: false },
      ],
      meta: { location: `${BASE}/ResourceTypes/User` },
    },
    { id: 'Group', endpoint: '/Groups', schema: GROUP, schemaExtensions: [] },
  ]);
});

describe('Schemas (RFC 7643 §7)', () => {
  const documents = schemaDocuments(types, BASE);
  const find = (id: string) => documents.find((each) => each.id === id) as Record<string, unknown>;

  test('/Schemas lists each schema once', () => {
    const core = 'urn:ietf:params:scim:schemas:core:2.0:';
    expect(documents.map(({ id }) => id)).toEqual([
      USER,
      ENTERPRISE,
      ATTRIBUTES,
      GROUP,
      ...['ServiceProviderConfig', 'ResourceType', 'Schema'].map((name) => core + name),
    ]);
  });

  test('displayName of a group is not announced as readOnly, because Rippling omits readOnly attributes', () => {
    expect(find(GROUP).attributes).toContainEqual(
      expect.objectContaining({ name: 'displayName', required: true, mutability: 'readWrite' }),
    );
  });

  test('configured user attributes have their type in /Schemas', () => {
    const attributes = find(ATTRIBUTES).attributes as { name: string; type: string; multiValued: boolean }[];
    expect(attributes.map(({ name, type, multiValued }) => [name, type, multiValued])).toEqual([
      ['region', 'string', false],
      ['clearance', 'decimal', false],
      ['contractor', 'boolean', false],
      ['regions', 'string', true],
      ['levels', 'decimal', true],
    ]);
  });

  test('every attribute in /Schemas has all characteristics', () => {
    for (const document of documents) {
      for (const attribute of document.attributes as object[]) {
        expect(Object.keys(attribute)).toEqual(
          expect.arrayContaining(['name', 'type', 'multiValued', 'description', 'required', 'caseExact', 'mutability', 'returned', 'uniqueness']),
        ); // prettier-ignore
      }
    }
  });
});

test.each([['__proto__'], ['a b'], ['']])('a user attribute with the name "%s" is refused', (name) => {
  expect(() => userResourceType({ userAttributes: [{ name, type: 'string' }] })).toThrow('user attribute');
});

test('a user attribute that is configured twice is refused', () => {
  const twice = { name: 'a', type: 'string' as const };
  expect(() => userResourceType({ userAttributes: [twice, twice] })).toThrow('twice');
});

test('a user attribute may have the name toString', () => {
  const type = userResourceType({ userAttributes: [{ name: 'toString', type: 'string' }] });
  const read = (members: object) => {
    const body = { schemas: [USER], userName: 'jo', [ATTRIBUTES]: members };
    return parseResource(type, body, auto)[ATTRIBUTES];
  };
  expect(read({ free: 1 })).toEqual({ free: 1 });
  expect(read({ toString: 'x' })).toEqual({ toString: 'x' });
});
