// Tests which resources a filter matches.
import { describe, expect, test } from '@jest/globals';
import { evaluateFilter, parseFilter } from '../../../../src/scim/index.ts';
import { ATTRIBUTES, auto, ENTERPRISE, groupType, USER, userType } from '../sample.ts';

// The resource as in an answer, with id, meta and groups.
const jo = {
  schemas: [USER, ENTERPRISE],
  id: 'Ab12',
  externalId: 'Ext-1',
  userName: 'Jo@Corp.example',
  name: { familyName: "O'Malley", givenName: 'Jo' },
  title: 'He said "go" (and [left]).',
  nickName: '',
  active: true,
  emails: [
    { value: 'jo@corp.example', type: 'work', primary: true },
    { value: 'jo@home.example', type: 'home' },
  ],
  groups: [{ value: 'g1', display: 'Finance' }],
  [ENTERPRISE]: { employeeNumber: '77', manager: { value: '7' } },
  [ATTRIBUTES]: { clearance: 3, regions: ['eu', 'us'], contractor: false, free: 'Text', size: 5 },
  meta: { resourceType: 'User', created: '2026-05-13T04:42:34Z', lastModified: '2026-05-13T04:42:34.500Z' },
};
const holds = (text: string): boolean => evaluateFilter(parseFilter(userType, text, auto), jo);

describe('filters that hold', () => {
  const yes = [
    'userName eq "jo@corp.EXAMPLE"',
    'userName Eq "jo@corp.example"',
    'USERNAME EQ "jo@corp.example"',
    `${USER}:userName sw "JO"`,
    'userName co "@CORP"',
    'userName ew ".example"',
    'userName eq jo@corp.example',
    'id eq "Ab12"',
    'externalId eq "Ext-1"',
    'name.familyName co "O\'Malley"',
    'title eq "He said \\"go\\" (and [left])."',
    'title co "\\u0022go\\u0022"',
    'title pr',
    'name pr',
    'not (nickName pr)',
    'displayName eq null',
    'title ne null',
    'displayName ne "x"',
    'active eq true',
    'active eq "True"',
    'active ne false',
    'emails eq "jo@home.example"',
    'Email' + 's Co "@HOME"',
    'emails.type eq "work"',
    'emails[type eq "work" and value co "@corp"]',
    'emails[type eq "home" and not (primary eq true)]',
    'emails[type eq "work"].value eq "jo@corp.example"',
    'emails[primary eq "True"].value eq "jo@corp.example"',
    'emails ne "jo@corp.example"',
    'groups eq "g1"',
    'groups.display eq "finance"',
    `${ENTERPRISE}:manager eq "7"`,
    'manager eq "7"',
    'id eq "Ab12" and manager eq "7"',
    `${ATTRIBUTES}:clearance ge 3`,
    `${ATTRIBUTES}:clearance eq "3"`,
    `${ATTRIBUTES}:regions eq "us"`,
    `${ATTRIBUTES}:regions[value eq "us"]`,
    `${ATTRIBUTES}:contractor eq false`,
    `${ATTRIBUTES}:free eq "Text"`,
    `${ATTRIBUTES}:size lt 6`,
    `${ATTRIBUTES}:absent ne "x"`,
    'meta.created ge "2026-05-13T04:42:34.000Z"',
    'meta.created eq "2026-05-13T06:42:34+02:00"',
    'meta.lastModified gt "2026-05-13T04:42:34Z"',
    'meta.lastModified lt "2027-01-01T00:00:00Z"',
    'meta.created sw "2026-05"',
    'schemas eq "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"',
    'userName gt "a"',
    'userName le "jo@corp.example"',
    'title pr or displayName pr and nickName pr',
    '  ( title  pr )\tand(active eq true)',
    'NOT (displayName pr) AND title PR',
    'not(not(title pr))',
  ];
  test.each(yes)('the filter %s matches', (text) => {
    expect(holds(text)).toBe(true);
  });
});

describe('filters that do not hold', () => {
  const no = [
    'id eq "ab12"',
    'externalId eq "ext-1"',
    'title eq null',
    'displayName eq "x"',
    'displayName co ""',
    'nickName pr',
    '(title pr or displayName pr) and nickName pr',
    'emails[type eq "work" and value co "@home"]',
    'emails[type eq "work"].value eq "jo@home.example"',
    'emails[type eq "other"]',
    'emails.primary eq false',
    `${ATTRIBUTES}:clearance gt 3`,
    `${ATTRIBUTES}:free eq "text"`,
    `${ATTRIBUTES}:size eq "5"`,
    `${ATTRIBUTES}:toString pr`,
    'meta.created gt "2026-05-13T04:42:34.000Z"',
    'not (userName eq "jo@corp.example")',
  ];
  test.each(no)('the filter %s does not match', (text) => {
    expect(holds(text)).toBe(false);
  });
});

test('in a filter `and` binds tighter than `or`, and `not` applies first (RFC 7644 §3.4.2.2)', () => {
  expect(parseFilter(userType, 'title pr or active eq true and not (name pr)', auto)).toMatchObject({
    kind: 'or',
    branches: [{ kind: 'present' }, { kind: 'and', branches: [{ kind: 'compare' }, { kind: 'not' }] }],
  });
});

test('the filter `members eq` matches members.value (Entra reference check)', () => {
  const group = { id: '1', displayName: 'Finance', members: [{ value: '9' }, { value: '8' }] };
  const check = (text: string) => evaluateFilter(parseFilter(groupType, text, auto), group);
  expect(check('id eq "1" and members eq "9"')).toBe(true);
  expect(check('members[value eq "8"]')).toBe(true);
  expect(check('members eq "7"')).toBe(false);
  expect(check('displayName eq "finance"')).toBe(true);
});
