// Tests the parser of PATCH paths.
import { describe, expect, test } from '@jest/globals';
import { createResourceType, parsePath, type Schema } from '../../../src/scim/index.ts';
import { ATTRIBUTES, auto, ENTERPRISE, refusal, rfc, USER, userType } from './sample.ts';

function shape(text: string, type = userType): string {
  const target = parsePath(type, text, auto);
  if (target.kind === 'unknown') return 'unknown';
  if (target.kind === 'section') return `section ${target.section.urn}`;
  if (target.kind === 'member') return `member ${target.name}`;
  return `${target.field.path}${target.filter ? '[]' : ''}${target.sub ? ` > ${target.sub.name}` : ''}`;
}

describe('paths of PATCH operations (RFC 7644 §3.5.2, figure 7)', () => {
  const paths: [string, string][] = [
    ['userName', 'userName'],
    ['USERNAME', 'userName'],
    [' userName ', 'userName'],
    ['name.givenName', 'name > givenName'],
    ['Name.GivenName', 'name > givenName'],
    ['emails', 'emails'],
    ['emails.value', 'emails > value'],
    ['emails[type eq "work"]', 'emails[]'],
    ['emails[type eq "work"].value', 'emails[] > value'],
    ['Emails[Type EQ "work" and primary eq "True"].Value', 'emails[] > value'],
    ['emails[value eq "a.b:c]@x and [y]"].display', 'emails[] > display'],
    ['emails[value eq "say \\"]\\" "].value', 'emails[] > value'],
    [`${USER}:userName`, 'userName'],
    [`${USER}:name.givenName`, 'name > givenName'],
    [`${USER}:emails[type eq "work"].value`, 'emails[] > value'],
    [USER, `section ${USER}`],
    [ENTERPRISE, `section ${ENTERPRISE}`],
    [`${ENTERPRISE}:department`, `${ENTERPRISE}:department`],
    [`${ENTERPRISE.toUpperCase()}:Department`, `${ENTERPRISE}:department`],
    [`${ENTERPRISE}:manager.value`, `${ENTERPRISE}:manager > value`],
    [`${ENTERPRISE}:manager.$ref`, `${ENTERPRISE}:manager > $ref`],
    ['manager', `${ENTERPRISE}:manager`],
    ['manager.displayName', `${ENTERPRISE}:manager > displayName`],
    [ATTRIBUTES, `section ${ATTRIBUTES}`],
    [`${ATTRIBUTES}:region`, `${ATTRIBUTES}:region`],
    [`${ATTRIBUTES}:undeclared`, 'member undeclared'],
    [`${ATTRIBUTES}:a.b-c_d`, 'member a.b-c_d'],
    [`${ATTRIBUTES}:regions[value eq "eu"]`, `${ATTRIBUTES}:regions[]`],
    ['foo', 'unknown'],
    ['foo[type eq "x"].bar', 'unknown'],
    ['name.foo', 'unknown'],
    ['emails[type eq "work"].foo', 'unknown'],
    ['urn:other:1.0:User:foo', 'unknown'],
    [`${USER}Name`, 'unknown'],
    [`${ATTRIBUTES}s:region`, 'unknown'],
    ['__proto__', 'unknown'],
    ['constructor.prototype', 'unknown'],
    ['name.constructor', 'unknown'],
    ['name.__proto__', 'unknown'],
  ];
  test.each(paths)('the PATCH path "%s" leads to %s', (text, expected) => {
    expect(shape(text)).toBe(expected);
  });

  const bad: [string, string][] = [
    ['.', '400 invalidPath'],
    ['name.', '400 invalidPath'],
    ['.name', '400 invalidPath'],
    ['name..givenName', '400 invalidPath'],
    ['a b', '400 invalidPath'],
    ['emails[', '400 invalidFilter'],
    ['emails[]', '400 invalidFilter'],
    ['emails[type eq "work"', '400 invalidFilter'],
    ['emails[type eq "work]', '400 invalidFilter'],
    ['emails[type eq "work"]value', '400 invalidPath'],
    ['emails[type eq "work"].', '400 invalidPath'],
    ['emails[type eq "work"].value.x', '400 invalidPath'],
    ['emails[userName eq "x"]', '400 invalidFilter'],
    ['userName[value eq "x"]', '400 invalidPath'],
    ['name[givenName eq "x"]', '400 invalidPath'],
    ['emails.value[type eq "x"]', '400 invalidPath'],
    [`${ATTRIBUTES}:__proto__`, '400 invalidPath'],
    [`${ATTRIBUTES}:constructor`, '400 invalidPath'],
    [`${ATTRIBUTES}:`, '400 invalidPath'],
    [`${ENTERPRISE}:`, '400 invalidPath'],
    [`emails[value eq "${'x'.repeat(5000)}"]`, '400 invalidPath'],
  ];
  test.each(bad)('the PATCH path "%s" answers %s', (text, expected) => {
    expect(refusal(() => parsePath(userType, text, auto))).toBe(expected);
  });

  test('a path that begins with two registered URNs is resolved by the longer one', () => {
    const schema = (id: string, name: string): Schema => ({
      id,
      name,
      description: '',
      attributes: [{ ...userType.schema.attributes[2]!, name }],
    });
    const type = createResourceType({
      ...userType,
      extensions: [
        { schema: schema('urn:x:1.0', 'Deep'), required: false },
        { schema: schema('urn:x:1.0:Deep', 'leaf'), required: false },
      ],
    });
    expect(shape('urn:x:1.0:Deep:leaf', type)).toBe('urn:x:1.0:Deep:leaf');
    expect(shape('urn:x:1.0:Deep', type)).toBe('section urn:x:1.0:Deep');
    expect(shape('urn:X:1.0', type)).toBe('section urn:x:1.0');
  });

  test('under the profile rfc the path manager without its URN is an unknown attribute', () => {
    expect(parsePath(userType, 'manager', rfc).kind).toBe('unknown');
  });
});
