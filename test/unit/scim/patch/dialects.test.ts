// Tests PATCH requests of identity providers and the resulting users.
import { describe, expect, test } from '@jest/globals';
import type { Resource } from '../../../../src/scim/index.ts';
import { ATTRIBUTES, ENTERPRISE, expectShows, patched, user } from '../sample.ts';

const start = user({
  userName: 'jdoe@corp.example',
  active: true,
  displayName: 'Jo Doe',
  name: { formatted: 'Jo Doe', familyName: 'Doe', givenName: 'Jo' },
  emails: [{ primary: true, type: 'work', value: 'jdoe@corp.example' }],
  [ENTERPRISE]: { department: 'R&D', employeeNumber: '77' },
});
const enterprise = (resource: Resource) => resource[ENTERPRISE] as Record<string, unknown>;
const JSON_ROLE = '{"id":"18d1","value":"admin","displayName":"Admin"}';

type Situation = [name: string, operation: object, expected: object];

describe('Entra, default shape', () => {
  const situations: Situation[] = [
    ['active as text', { op: 'Replace', path: 'active', value: 'False' }, { active: false }],
    ['reactivation', { op: 'Replace', path: 'active', value: 'True' }, { active: true }],
    [
      'Add with a dotted path',
      { op: 'Add', path: 'name.givenName', value: 'Joan' },
      { name: { formatted: 'Jo Doe', familyName: 'Doe', givenName: 'Joan' } },
    ],
    [
      'the work address that is there',
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'j@corp.example' },
      { emails: [{ value: 'j@corp.example', type: 'work', primary: true }] },
    ],
    [
      'an address that is not there is made',
      { op: 'Add', path: 'addresses[type eq "work"].country', value: 'PT' },
      { addresses: [{ country: 'PT', type: 'work' }] },
    ],
    [
      'Replace makes it as well',
      { op: 'Replace', path: 'phoneNumbers[type eq "mobile"].value', value: '+351' },
      { phoneNumbers: [{ value: '+351', type: 'mobile' }] },
    ],
    [
      'URN path',
      { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Ops' },
      { [ENTERPRISE]: { employeeNumber: '77', department: 'Ops' } },
    ],
    [
      'manager as bare text',
      { op: 'Add', path: `${ENTERPRISE}:manager`, value: '9' },
      { [ENTERPRISE]: { employeeNumber: '77', department: 'R&D', manager: { value: '9' } } },
    ],
    [
      'manager unqualified, in a list',
      { op: 'Add', path: 'manager', value: [{ $ref: 'http://h/scim/Users/9', value: '9' }] },
      { [ENTERPRISE]: { employeeNumber: '77', department: 'R&D', manager: { value: '9' } } },
    ],
    [
      'removing a manager that is not there',
      { op: 'Remove', path: `${ENTERPRISE}:manager` },
      { [ENTERPRISE]: { employeeNumber: '77', department: 'R&D' } },
    ],
    [
      'a role as JSON text stays text',
      { op: 'Add', path: 'roles', value: [{ value: JSON_ROLE }] },
      { roles: [{ value: JSON_ROLE }] },
    ],
    [
      'roles[primary eq "True"] makes a real boolean',
      { op: 'Add', path: 'roles[primary eq "True"].value', value: 'admin' },
      { roles: [{ value: 'admin', primary: true }] },
    ],
    [
      'user attribute by URN',
      { op: 'Add', path: `${ATTRIBUTES}:region`, value: 'eu' },
      { [ATTRIBUTES]: { region: 'eu' } },
    ],
    [
      'undeclared user attribute by URN',
      { op: 'Add', path: `${ATTRIBUTES}:team`, value: 'blue' },
      { [ATTRIBUTES]: { team: 'blue' } },
    ],
    [
      'Remove with a value path and a value',
      { op: 'Remove', path: 'emails[type eq "work"]', value: 'jdoe@corp.example' },
      { emails: undefined },
    ],
    [
      'Remove of the value of a value path leaves no empty shell',
      { op: 'Remove', path: 'emails[type eq "work"].value', value: '' },
      { emails: undefined },
    ],
  ];
  test.each(situations)(
    'a PATCH as Entra sends it, %s: %j leaves the user with %j',
    (_name, operation, expected) => {
      expectShows(patched(start, [operation], 'auto'), expected);
      expectShows(patched(start, [operation], 'entra'), expected);
    },
  );

  test('one PATCH with every operation that Entra sends is applied as a whole', () => {
    const resource = patched(
      start,
      situations.map(([, operation]) => operation),
      'entra',
    );
    expect(resource).toMatchObject({
      active: true,
      roles: [{ value: JSON_ROLE }, { value: 'admin', primary: true }],
    });
    expect(patched(start, [], 'entra')).toEqual(start);
  });
});

describe('Entra with the feature flag aadOptscim062020', () => {
  test('one PATCH operation without a path changes several simple attributes', () => {
    const value = {
      displayName: 'Joan',
      active: false,
      'name.givenName': 'Joan',
      [`${ENTERPRISE}:employeeNumber`]: '78',
    };
    const resource = patched(start, [{ op: 'replace', value }], 'entra');
    expect(resource).toMatchObject({
      displayName: 'Joan',
      active: false,
      name: { formatted: 'Jo Doe', familyName: 'Doe', givenName: 'Joan' },
    });
    expect(enterprise(resource)).toEqual({ employeeNumber: '78', department: 'R&D' });
  });

  test('PATCH add with a filter in its path changes the value of the element that the filter selects', () => {
    const operation = { op: 'add', path: 'emails[type eq "work"].value', value: 'j@corp.example' };
    expect(patched(start, [operation], 'entra').emails).toEqual([
      { value: 'j@corp.example', type: 'work', primary: true },
    ]);
  });
});

describe('Entra SCIM validator', () => {
  test('a PATCH of the Entra validator with a path in another letter case and an extra key in an operation is accepted', () => {
    const operation = { op: 'replace', name: 'x', path: 'UserName', value: 'new' };
    expect(patched(start, [operation]).userName).toBe('new');
  });

  test('PATCH replace of `emails` with two values of one type stores both values', () => {
    const value = [
      { value: 'a', type: 'work' },
      { value: 'b', type: 'work' },
    ];
    expect(patched(start, [{ op: 'replace', path: 'emails', value }]).emails).toEqual(value);
  });
});

describe('PATCH requests of Okta', () => {
  test("Okta's PATCH without a path deactivates and reactivates a user", () => {
    const off = patched(start, [{ op: 'replace', value: { active: false } }], 'okta');
    expect(off).toEqual({ ...start, active: false });
    expect(patched(off, [{ op: 'replace', value: { active: true } }], 'okta')).toEqual(start);
  });

  test("the id in the value of Okta's PATCH without a path is ignored", () => {
    const value = { id: 'other', meta: {}, schemas: [], groups: [], displayName: 'New' };
    expect(patched(start, [{ op: 'replace', value }], 'okta')).toEqual({ ...start, displayName: 'New' });
  });

  test('the password in a PATCH of Okta is accepted and not stored', () => {
    expect(patched(start, [{ op: 'replace', value: { password: 'secret' } }], 'okta')).toEqual(start);
    expect(patched(start, [{ op: 'replace', path: 'password', value: 'secret' }], 'okta')).toEqual(start);
  });

  test("Okta's PATCH replace without a path stores all attributes of an object under the URN of the custom attributes", () => {
    const value = { [ATTRIBUTES]: { region: 'us', clearance: 2, regions: ['eu', 'us'] } };
    expect(patched(start, [{ op: 'replace', value }], 'okta')[ATTRIBUTES]).toEqual({
      clearance: 2,
      region: 'us',
      regions: ['eu', 'us'],
    });
  });
});

describe('PATCH requests of OneLogin and authentik', () => {
  test("OneLogin's managerId, and booleans sent as text, are accepted in a PATCH", () => {
    const value = { active: 'false', [ENTERPRISE]: { manager: { managerId: 12 } } };
    const resource = patched(start, [{ op: 'replace', value }]);
    expect(resource.active).toBe(false);
    expect(enterprise(resource).manager).toEqual({ value: '12' });
  });

  test("authentik's PATCH replace with the whole resource changes only different values, and ignores id and meta", () => {
    const value = { ...start, id: '1', meta: { resourceType: 'User' }, displayName: 'Other' };
    expect(patched(start, [{ op: 'replace', value }])).toEqual({ ...start, displayName: 'Other' });
  });
});

describe('every shape in which providers send manager', () => {
  const shapes: [string, object, unknown][] = [
    ['text', { op: 'replace', path: `${ENTERPRISE}:manager`, value: '9' }, { value: '9' }],
    ['object', { op: 'replace', path: `${ENTERPRISE}:manager`, value: { value: '9' } }, { value: '9' }],
    ['$ref', { op: 'replace', path: `${ENTERPRISE}:manager`, value: { $ref: '../Users/9' } }, { value: '9' }],
    ['manager.value', { op: 'replace', path: `${ENTERPRISE}:manager.value`, value: '9' }, { value: '9' }],
    [
      'manager.$ref',
      { op: 'replace', path: `${ENTERPRISE}:manager.$ref`, value: '../Users/9' },
      { value: '9' },
    ],
    ['pathless manager.displayName', { op: 'add', value: { 'manager.displayName': 'Boss' } }, { value: '5' }],
    ['pathless text', { op: 'add', value: { [`${ENTERPRISE}:manager`]: '9' } }, { value: '9' }],
    ['pathless nested', { op: 'add', value: { [ENTERPRISE]: { manager: { value: '9' } } } }, { value: '9' }],
    ['pathless manager.value', { op: 'add', value: { 'manager.value': '9' } }, { value: '9' }],
    [
      'pathless URN manager.value',
      { op: 'add', value: { [`${ENTERPRISE}:manager.value`]: '9' } },
      { value: '9' },
    ],
    ['empty text', { op: 'replace', path: 'manager', value: '' }, undefined],
    ['empty list', { op: 'replace', path: 'manager', value: [] }, undefined],
    ['null', { op: 'replace', path: 'manager', value: null }, undefined],
    ['empty manager.value', { op: 'replace', path: 'manager.value', value: '' }, undefined],
    ['null inside', { op: 'replace', path: 'manager', value: { value: null } }, undefined],
    ['remove', { op: 'remove', path: `${ENTERPRISE}:manager` }, undefined],
    ['remove manager.value', { op: 'remove', path: 'manager.value' }, undefined],
    ['remove with the same value', { op: 'remove', path: 'manager', value: '5' }, undefined],
    ['remove with another value', { op: 'remove', path: 'manager', value: '6' }, { value: '5' }],
  ];
  test.each(shapes)(
    'a PATCH of manager as providers send it, %s: %j gives the manager %p',
    (_name, operation, expected) => {
      const managed = user({ [ENTERPRISE]: { department: 'x', manager: '5' } });
      expect(enterprise(patched(managed, [operation])).manager).toEqual(expected);
    },
  );
});
