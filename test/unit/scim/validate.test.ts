// Tests how the body of a POST or PUT becomes a canonical resource, or is refused.
import { describe, expect, test } from '@jest/globals';
import type { ScimError } from '../../../src/scim/index.ts';
import { parseResource, profileOf, type DeviationName } from '../../../src/scim/index.ts';
import {
  ATTRIBUTES,
  auto,
  ENTERPRISE,
  GROUP,
  groupType,
  refusal,
  rfc,
  user,
  USER,
  userType,
} from './sample.ts';

const post = (body: unknown, profile = auto) => parseResource(userType, body, profile);
const ADSCIM = 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group';

describe('bodies that identity providers send', () => {
  test('an Entra POST of a user drops nulls, empty roles and client meta, and keeps an extension that is missing in schemas', () => {
    const resource = post({
      schemas: [USER, ENTERPRISE],
      externalId: 'jdoe',
      userName: 'jdoe@corp.example',
      active: true,
      displayName: 'Jo Doe',
      emails: [{ primary: true, type: 'work', value: 'jdoe@corp.example' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'Jo Doe', familyName: 'Doe', givenName: 'Jo' },
      roles: [],
      title: null,
      [ENTERPRISE]: { department: 'R&D', employeeNumber: '77' },
      [ATTRIBUTES]: { region: 'eu' },
    });
    expect(JSON.stringify(resource)).toBe(
      JSON.stringify({
        schemas: [USER, ENTERPRISE, ATTRIBUTES],
        externalId: 'jdoe',
        userName: 'jdoe@corp.example',
        name: { formatted: 'Jo Doe', familyName: 'Doe', givenName: 'Jo' },
        displayName: 'Jo Doe',
        active: true,
        emails: [{ value: 'jdoe@corp.example', type: 'work', primary: true }],
        [ENTERPRISE]: { employeeNumber: '77', department: 'R&D' },
        [ATTRIBUTES]: { region: 'eu' },
      }),
    );
  });

  test('an Entra POST of a group with the ADSCIM schema and without members is accepted', () => {
    const body = {
      schemas: [GROUP, ADSCIM],
      externalId: '8aa1',
      displayName: 'Finance',
      meta: { resourceType: 'Group' },
    };
    const resource = parseResource(groupType, body, auto);
    expect(resource).toEqual({ schemas: [GROUP], externalId: '8aa1', displayName: 'Finance' });
  });

  test('an Okta POST of a user stores no password, and ignores groups', () => {
    const resource = post({
      schemas: [USER],
      userName: 'jo@x.example',
      name: { givenName: 'Jo', familyName: 'X' },
      emails: [{ primary: true, value: 'jo@x.example', type: 'work' }],
      displayName: 'Jo X',
      locale: 'en-US',
      externalId: '00u1abcd',
      groups: [],
      password: 'random',
      active: true,
    });
    expect(JSON.stringify(resource)).not.toContain('random');
    expect(Object.keys(resource)).toEqual([
      'schemas',
      'externalId',
      'userName',
      'name',
      'displayName',
      'locale',
      'active',
      'emails',
    ]);
  });

  test('an Okta POST of a group gives a parsed group without members, which are parsed separately', () => {
    const body = { schemas: [GROUP], displayName: 'Finance', members: [] };
    const resource = parseResource(groupType, body, auto);
    expect(resource).toEqual({ schemas: [GROUP], displayName: 'Finance' });
  });

  test('a OneLogin body with SCIM 1 schema URNs, null id, booleans as text and managerId is accepted', () => {
    const resource = post({
      schemas: ['urn:scim:schemas:core:1.0', 'urn:scim:schemas:extension:enterprise:2.0'],
      id: null,
      userName: 'jo@x.example',
      active: 'true',
      [ENTERPRISE]: { manager: { managerId: '7' } },
    });
    expect(resource).toEqual({
      schemas: [USER, ENTERPRISE],
      userName: 'jo@x.example',
      active: true,
      [ENTERPRISE]: { manager: { value: '7' } },
    });
  });

  test('a OneLogin body with the unfilled template "{$user.active}" is refused', () => {
    expect(refusal(() => post({ userName: 'jo', active: '{$user.active}' }))).toBe('400 invalidValue');
  });

  test('a body of the Entra validator with capitalised names and "True" is accepted, and a misspelt attribute is ignored', () => {
    const resource = post({ Schemas: [USER], UserName: 'jo', Active: 'True', dispalyName: 'x' });
    expect(resource).toEqual({ schemas: [USER], userName: 'jo', active: true });
  });

  test('an authentik PUT of a user with externalId and an e-mail of type other is accepted', () => {
    const body = {
      schemas: [USER],
      externalId: '42',
      userName: 'jo',
      emails: [{ value: 'jo@x.example', type: 'other', primary: true }],
      photos: [{ value: 'https://x.example/p.png' }],
      active: true,
      name: { formatted: 'Jo', familyName: ' ', givenName: 'Jo' },
    };
    expect(parseResource(userType, body, auto)).toMatchObject({
      externalId: '42',
      photos: [{ value: 'https://x.example/p.png' }],
    });
  });
});

describe('the canonical form of a resource', () => {
  test('resources that differ only in key order and case of names have equal text (RFC 7643 §2.1)', () => {
    const one = user({
      name: { givenName: 'A', familyName: 'B' },
      [ATTRIBUTES]: { b: 1, a: 2, region: 'x' },
    });
    const two = user({
      [ATTRIBUTES.toUpperCase()]: { Region: 'x', a: 2, b: 1 },
      NAME: { FAMILYNAME: 'B', givenname: 'A' },
    });
    expect(JSON.stringify(two)).toBe(JSON.stringify(one));
  });

  test('schemas lists the core URN and each extension with values, whatever the client listed', () => {
    expect(
      user({ schemas: [USER, ENTERPRISE, ATTRIBUTES], [ENTERPRISE]: { department: null } }).schemas,
    ).toEqual([USER]);
  });

  test('null, [] and {} are unassigned (RFC 7643 §2.5)', () => {
    const resource = user({ title: null, emails: [], name: {}, roles: [null], nickName: [] });
    expect(resource).toEqual({ schemas: [USER], userName: 'jo' });
  });

  test('of two values with primary the last one stays primary (RFC 7643 §2.4)', () => {
    const emails = [
      { value: 'a', primary: true },
      { value: 'b', primary: 'True' },
    ];
    expect(user({ emails }).emails).toEqual([
      { value: 'a', primary: false },
      { value: 'b', primary: true },
    ]);
  });

  test('the order of multi-valued attributes is kept', () => {
    expect(user({ roles: [{ value: 'z' }, { value: 'a' }] }).roles).toEqual([{ value: 'z' }, { value: 'a' }]);
  });
});

describe('conversion of values to attribute types', () => {
  const typed: [string, object, object][] = [
    ['boolean text', { contractor: 'False' }, { contractor: false }],
    ['numeric text for a number', { clearance: '3' }, { clearance: 3 }],
    ['a number for a string attribute (lenient)', { region: 7 }, { region: '7' }],
    ['a single value for a list', { regions: 'eu' }, { regions: ['eu'] }],
    ['a list of {value}', { regions: [{ value: 'eu' }, 'us'] }, { regions: ['eu', 'us'] }],
    ['numeric text in a list of numbers', { levels: ['1', 2] }, { levels: [1, 2] }],
    [
      'undeclared members keep their JSON type',
      { x: '3', y: 3, z: [true, 'a'] },
      { x: '3', y: 3, z: [true, 'a'] },
    ],
    [
      'names of Object.prototype are plain names',
      { toString: 'a', hasOwnProperty: 1 },
      { toString: 'a', hasOwnProperty: 1 },
    ],
  ];
  test.each(typed)('a user attribute is converted to its type: %s', (_name, sent, stored) => {
    expect(JSON.stringify(user({ [ATTRIBUTES]: sent })[ATTRIBUTES])).toBe(
      JSON.stringify(Object.fromEntries(Object.entries(stored).sort(([a], [b]) => (a < b ? -1 : 1)))),
    );
  });

  const managers: [string, unknown, unknown][] = [
    ['text', '9', { value: '9' }],
    ['object', { value: '9', $ref: 'http://h/Users/9', displayName: 'B' }, { value: '9' }],
    ['list of one', [{ $ref: 'http://h/scim/Users/9', value: '9' }], { value: '9' }],
    ['$ref alone', { $ref: '../Users/9?x=1' }, { value: '9' }],
    ['number', 9, { value: '9' }],
    ['empty text', '', undefined],
    ['empty value', { value: '' }, undefined],
    ['null', null, undefined],
  ];
  test.each(managers)('manager sent as %s is stored as an object', (_name, sent, stored) => {
    const extension = user({ [ENTERPRISE]: { manager: sent } })[ENTERPRISE] as
      { manager?: unknown } | undefined;
    expect(extension?.manager).toEqual(stored);
  });

  test('an empty externalId is not stored', () => {
    expect(user({ externalId: '' })).toEqual({ schemas: [USER], userName: 'jo' });
  });

  test('manager without its URN is stored as the enterprise attribute', () => {
    expect(user({ manager: '9' })[ENTERPRISE]).toEqual({ manager: { value: '9' } });
  });
});

describe('refused POST bodies', () => {
  const bad: [string, unknown, string][] = [
    ['a list as body', [], '400 invalidSyntax'],
    ['null as body', null, '400 invalidSyntax'],
    ['text as body', 'x', '400 invalidSyntax'],
    ['no userName (RFC 7643 §4.1.1)', { schemas: [USER] }, '400 invalidValue'],
    ['blank userName', { userName: '  ' }, '400 invalidValue'],
    ['object as text', { userName: {} }, '400 invalidValue'],
    ['list of two for a single value', { userName: ['a', 'b'] }, '400 invalidValue'],
    ['text for a complex attribute without value', { userName: 'a', name: 'Jo' }, '400 invalidValue'],
    ['nested list', { userName: 'a', emails: [['x']] }, '400 invalidValue'],
    ['text for a number', { userName: 'a', [ATTRIBUTES]: { clearance: 'high' } }, '400 invalidValue'],
    ['object in the open extension', { userName: 'a', [ATTRIBUTES]: { x: { y: 1 } } }, '400 invalidValue'],
    [
      'list of objects in the open extension',
      { userName: 'a', [ATTRIBUTES]: { x: [{ y: 1 }] } },
      '400 invalidValue',
    ],
    ['extension that is no object', { userName: 'a', [ENTERPRISE]: 'x' }, '400 invalidValue'],
    ['constructor as member', { userName: 'a', [ATTRIBUTES]: { constructor: 'x' } }, '400 invalidValue'],
    [
      '__proto__ as member',
      JSON.parse(`{"userName":"a","${ATTRIBUTES}":{"__proto__":"x"}}`),
      '400 invalidValue',
    ],
    ['member name with a space', { userName: 'a', [ATTRIBUTES]: { 'a b': 1 } }, '400 invalidValue'],
  ];
  test.each(bad)(
    'a POST body is refused with 400 invalidSyntax or invalidValue: %s',
    (_name, body, expected) => {
      expect(refusal(() => post(body))).toBe(expected);
    },
  );

  test('a body deeper than 32 levels is refused', () => {
    const nest = (depth: number): unknown => (depth === 0 ? 1 : { a: nest(depth - 1) });
    expect(refusal(() => post({ userName: 'a', x: nest(40) }))).toBe('400 invalidSyntax');
    expect(refusal(() => post({ userName: 'a', x: nest(20) }))).toBe('accepted');
  });

  test('a group without displayName is refused (RFC 7643 §4.2)', () => {
    const act = () => parseResource(groupType, { schemas: [GROUP] }, auto);
    expect(refusal(act)).toBe('400 invalidValue');
  });

  test('the error for an invalid resource names the SCIM attribute', () => {
    const detail = (body: object): string => {
      try {
        post({ userName: 'a', ...body });
        return '';
      } catch (error) {
        return (error as ScimError).detail;
      }
    };
    expect(detail({ [ATTRIBUTES]: { clearance: [], contractor: 'maybe' } })).toContain(
      `${ATTRIBUTES}:contractor`,
    );
    expect(detail({ emails: [{ primary: 'maybe' }] })).toContain('emails.primary');
  });

  const strict: [string, object][] = [
    ['boolean text', { active: 'True' }],
    ['number for text', { title: 1 }],
    ['bare manager', { [ENTERPRISE]: { manager: '9' } }],
    ['single value for a list', { emails: { value: 'a' } }],
    ['foreign schema', { schemas: [USER, ADSCIM] }],
    ['missing core schema', { schemas: [] }],
  ];
  test.each(strict)('a POST body is refused by the profile rfc and accepted by auto: %s', (_name, body) => {
    const full = { schemas: [USER], userName: 'jo', ...body };
    expect(refusal(() => post(full, rfc))).toBe('400 invalidValue');
    expect(refusal(() => post(full))).toBe('accepted');
  });

  test.each([
    ['reference', 'profileUrl', 'https://x.example/', true],
    ['reference', 'profileUrl', 'a b', false],
    ['reference', 'profileUrl', 'a%2', false],
    ['certificate', 'x509', 'AAAA', true],
    ['certificate', 'x509', 'A=', false],
  ])('a %s of 10 MB (%s) that ends in "%s": accepted %s', (_type, name, end, isAccepted) => {
    const text = 'a'.repeat(10_000_000) + end;
    const body = name === 'x509' ? { x509Certificates: [{ value: text }] } : { profileUrl: text };
    expect(refusal(() => user(body))).toBe(isAccepted ? 'accepted' : '400 invalidValue');
  });

  test('the profile rfc ignores unknown attributes on POST and PUT', () => {
    expect(post({ schemas: [USER], userName: 'jo', foo: 1 }, rfc)).toEqual({
      schemas: [USER],
      userName: 'jo',
    });
  });
});

test('parsing a resource reports every deviation that the profile accepted', () => {
  const seen: DeviationName[] = [];
  const profile = profileOf('auto', (kind) => seen.push(kind));
  post({ userName: 'jo', active: 'True', foo: 1 }, profile);
  expect(seen).toEqual(['missing-schema', 'string-booleans', 'unknown-attribute']);
});

test('a body with __proto__ or constructor keys does not change Object.prototype', () => {
  post(JSON.parse('{"userName":"a","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'));
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test.each([1e21, 2 ** 53, -(2 ** 53)])(
  'the number %d in a user attribute is refused, and the message names 2^53 - 1 as the largest number',
  (clearance) => {
    const body = { schemas: [USER, ATTRIBUTES], userName: 'a', [ATTRIBUTES]: { clearance } };
    expect(() => post(body)).toThrow(/clearance" must be a number of at most 2\^53 - 1/);
  },
);

test('the error for text in place of a number names the attribute and the type', () => {
  const body = { schemas: [USER, ATTRIBUTES], userName: 'a', [ATTRIBUTES]: { clearance: 'high' } };
  expect(() => post(body)).toThrow(/clearance" must be a number\.$/);
});
