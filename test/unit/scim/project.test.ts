// Tests the projection of answers by attributes and excludedAttributes.
import { describe, expect, test } from '@jest/globals';
import {
  createResourceType,
  parseProjection,
  project,
  wants,
  type Resource,
} from '../../../src/scim/index.ts';
import { ATTRIBUTES, ENTERPRISE, groupType, USER, userType } from './sample.ts';

const jo: Resource = {
  schemas: [USER, ENTERPRISE],
  id: '1',
  userName: 'jo',
  name: { familyName: 'Doe', givenName: 'Jo' },
  active: true,
  emails: [
    { value: 'a', type: 'work' },
    { value: 'b', type: 'home' },
  ],
  [ENTERPRISE]: { department: 'R&D', manager: { value: '7' } },
  [ATTRIBUTES]: { region: 'eu', free: 1 },
  meta: { resourceType: 'User', version: 'W/"1"' },
};
const shown = (query: { attributes?: string; excludedAttributes?: string }) =>
  project(userType, jo, parseProjection(userType, query));
const { schemas, id } = jo;

describe('the parameter attributes (RFC 7644 §3.9)', () => {
  const situations: [string, object][] = [
    ['id', {}],
    ['userName', { userName: 'jo' }],
    ['USERNAME , active', { userName: 'jo', active: true }],
    ['name.givenName', { name: { givenName: 'Jo' } }],
    ['name.givenName,name', { name: jo.name }],
    ['emails.value', { emails: [{ value: 'a' }, { value: 'b' }] }],
    ['emails[type eq "work"]', { emails: jo.emails }],
    ['emails[type eq "a,b"],active', { emails: jo.emails, active: true }],
    [ENTERPRISE, { [ENTERPRISE]: jo[ENTERPRISE] }],
    [`${ENTERPRISE}:department`, { [ENTERPRISE]: { department: 'R&D' } }],
    [`${ENTERPRISE}:manager.value`, { [ENTERPRISE]: { manager: { value: '7' } } }],
    [`${ATTRIBUTES}:free`, { [ATTRIBUTES]: { free: 1 } }],
    [`${USER}:active`, { active: true }],
    ['meta.version', { meta: { version: 'W/"1"' } }],
    ['emails[type eq "work"].value', { emails: [{ value: 'a' }, { value: 'b' }] }],
    ['nonsense', {}],
    ['title', {}],
    ['__proto__', {}],
  ];
  test.each(situations)(
    'attributes=%s returns only these attributes, id and schemas',
    (attributes, expected) => {
      expect(shown({ attributes })).toEqual({ schemas, id, ...expected });
    },
  );
});

describe('the parameter excludedAttributes', () => {
  const without = (...keys: string[]) =>
    Object.fromEntries(Object.entries(jo).filter(([key]) => !keys.includes(key)));
  const situations: [string, object][] = [
    ['emails', without('emails')],
    ['id,schemas', jo],
    ['name.familyName', { ...jo, name: { givenName: 'Jo' } }],
    ['emails.value,emails.type', without('emails')],
    [ENTERPRISE, without(ENTERPRISE)],
    [`${ATTRIBUTES}:region`, { ...jo, [ATTRIBUTES]: { free: 1 } }],
    ['nonsense', jo],
  ];
  test.each(situations)(
    'excludedAttributes=%s returns all other attributes',
    (excludedAttributes, expected) => {
      expect(shown({ excludedAttributes })).toEqual(expected);
    },
  );
});

test('a projection without attributes and excludedAttributes returns the resource object unchanged', () => {
  expect(parseProjection(userType, {})).toBeUndefined();
  expect(parseProjection(userType, { attributes: ' , ' })).toBeUndefined();
  expect(project(userType, jo, undefined)).toBe(jo);
});

test('attributes has precedence over excludedAttributes in one request', () => {
  expect(shown({ attributes: 'userName', excludedAttributes: 'userName' })).toEqual({
    schemas,
    id,
    userName: 'jo',
  });
});

test('an attribute with returned=never is never returned, and one with returned=request only when named (RFC 7643 §2.4)', () => {
  const secret = { ...jo, password: 'x' };
  expect(project(userType, secret, undefined)).toEqual(jo);
  expect(project(userType, secret, parseProjection(userType, { attributes: 'password' }))).toEqual({
    schemas,
    id,
  });
  const title = {
    ...userType.schema.attributes.find(({ name }) => name === 'title')!,
    returned: 'request' as const,
  };
  const type = createResourceType({
    ...userType,
    schema: { ...userType.schema, attributes: [title] },
    extensions: [],
  });
  const resource: Resource = { schemas: [USER], id: '1', title: 'Dr' };
  expect(project(type, resource, undefined)).toEqual({ schemas: [USER], id: '1' });
  expect(project(type, resource, parseProjection(type, { excludedAttributes: 'x' }))).toEqual({
    schemas: [USER],
    id: '1',
  });
  expect(project(type, resource, parseProjection(type, { attributes: 'title' }))).toEqual(resource);
});

test('a projection loads members or groups exactly if it returns these or a part of these', () => {
  const members = (query: object) => wants(parseProjection(groupType, query), 'members');
  expect(members({})).toBe(true);
  expect(members({ excludedAttributes: 'members' })).toBe(false);
  expect(members({ excludedAttributes: 'members.display' })).toBe(true);
  expect(members({ attributes: 'id' })).toBe(false);
  expect(members({ attributes: 'Members.value' })).toBe(true);
  expect(wants(parseProjection(userType, { attributes: 'groups' }), 'groups')).toBe(true);
});
