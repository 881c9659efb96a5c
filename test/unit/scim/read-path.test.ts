// Tests reading a value of a resource by its path.
import { expect, test } from '@jest/globals';
import { readPath } from '../../../src/scim/index.ts';
import { ATTRIBUTES, ENTERPRISE, refusal, user, userType } from './sample.ts';

const jo = {
  ...user({
    title: 'Dr',
    name: { givenName: 'Jo' },
    emails: [{ value: 'a', type: 'work' }, { value: 'b' }],
    addresses: [{ type: 'work', country: 'PT' }],
    [ENTERPRISE]: { manager: '7' },
    [ATTRIBUTES]: { clearance: 3, regions: ['eu', 'us'], free: 'x', contractor: false },
  }),
  groups: [{ value: 'g', display: 'region-eu' }],
};

const paths: [string, unknown[]][] = [
  ['title', ['Dr']],
  ['name.givenName', ['Jo']],
  ['nickName', []],
  ['emails', ['a', 'b']],
  ['emails.type', ['work']],
  ['emails[type eq "work"].value', ['a']],
  ['addresses[type eq "work"].country', ['PT']],
  ['addresses[type eq "home"].country', []],
  ['groups.display', ['region-eu']],
  ['manager', ['7']],
  [`${ENTERPRISE}:department`, []],
  [`${ATTRIBUTES}:clearance`, [3]],
  [`${ATTRIBUTES}:contractor`, [false]],
  [`${ATTRIBUTES}:regions`, ['eu', 'us']],
  [`${ATTRIBUTES}:regions[value sw "e"]`, ['eu']],
  [`${ATTRIBUTES}:free`, ['x']],
  [`${ATTRIBUTES}:toString`, []],
  ['schemas', jo.schemas],
];
test.each(paths)('the path %s reads the values %j from a user', (text, expected) => {
  expect(readPath(userType, text)(jo)).toEqual(expected);
});

test.each(['foo', 'name.foo', '', 'urn:x:y'])(
  'the path "%s" in a mapping is refused with 400 invalidPath',
  (text) => {
    expect(refusal(() => readPath(userType, text))).toBe('400 invalidPath');
  },
);
