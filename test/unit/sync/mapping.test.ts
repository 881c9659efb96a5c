// Tests the mapping of users and groups to the desired state of a target.
import { jest } from '@jest/globals';
import fc from 'fast-check';
import { userResourceType, type Resource } from '../../../src/scim/index.ts';
import {
  compileMapping,
  isEveryone,
  type AttributeRule,
  type MappingRules,
} from '../../../src/sync/mapping/mapping.ts';

// The time limit of expressions reads Date.now. The clock stands still, so that no expression exceeds the limit on a busy machine;
// expression.test.ts tests the limit.
jest.spyOn(Date, 'now').mockReturnValue(0);

const EXTENSION = 'urn:cube:params:1.0:UserAttribute';
const userType = userResourceType({ userAttributes: [{ name: 'level', type: 'number' }] });

const rules = (rest: Partial<MappingRules> = {}): MappingRules => ({
  users: { scope: 'true' },
  groups: { include: ['.*'], exclude: [], rename: [] },
  attributes: {},
  ...rest,
});
const mappingOf = (rest?: Partial<MappingRules>) => compileMapping(rules(rest), userType);
/** Creates a rule: `source` is an expression if it has a parenthesis, `=` or `&`, else a path. */
const rule = (
  type: AttributeRule['type'],
  source: string,
  onEmpty: AttributeRule['onEmpty'] = 'keep',
): AttributeRule =>
  source.includes('(') || source.includes('=') || source.includes('&')
    ? { type, expression: source, onEmpty }
    : { type, from: source, onEmpty };

const ada = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: 'ada',
  externalId: 'E-1',
  displayName: 'Ada L',
  title: 'Countess',
  userType: 'Contractor',
  active: true,
  name: { givenName: 'Ada', familyName: 'L' },
  emails: [
    { value: 'home@x', type: 'home' },
    { value: 'work@x', type: 'work' },
  ],
  addresses: [
    { type: 'home', country: 'FR' },
    { type: 'work', country: 'PT' },
  ],
  [EXTENSION]: { level: 3 },
};
const groups = [
  { id: 'g1', displayName: 'Sales' },
  { id: 'g2', displayName: 'EMEA' },
];

/** Maps a resource. @returns the attribute values by name, and `faults` if there are any */
async function attributesOf(
  attributes: Record<string, AttributeRule>,
  resource: object = ada,
  memberOf = groups,
) {
  const { attributes: mapped, faults } = await mappingOf({ attributes }).user(
    resource as Resource,
    'id',
    memberOf,
  );
  return { ...mapped, ...(faults.length > 0 ? { faults } : {}) };
}

describe('mapping of core attributes', () => {
  const core = async (resource: object) => (await mappingOf().user(resource as Resource, 'id', [])).core;

  it('core attributes have the names that the platform accepts', async () => {
    await expect(core(ada)).resolves.toEqual({
      userName: 'ada',
      externalId: 'E-1',
      displayName: 'Ada L',
      'name.givenName': 'Ada',
      'name.familyName': 'L',
      emails: 'work@x',
    });
  });

  it('core attributes are null if the resource has no value or an empty text', async () => {
    await expect(core({ userName: 'ada', displayName: '', emails: [], name: null })).resolves.toEqual({
      userName: 'ada',
      externalId: null,
      displayName: null,
      'name.givenName': null,
      'name.familyName': null,
      emails: null,
    });
  });

  it('emails map to the primary address, else the work address, else the first', async () => {
    const [home, work] = ada.emails;
    await expect(core({ ...ada, emails: [{ ...home, primary: true }, work] })).resolves.toMatchObject({
      emails: 'home@x',
    });
    await expect(core({ ...ada, emails: [{ value: 'other@x' }, home] })).resolves.toMatchObject({
      emails: 'other@x',
    });
  });

  it('the mapped active is true unless the resource says false', async () => {
    const active = async (resource: object) =>
      (await mappingOf().user(resource as Resource, 'id', [])).active;
    expect([await active({}), await active({ active: true }), await active({ active: false })]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('mapping of user attributes', () => {
  it('attributes are mapped from plain paths, sub-attributes, filters and extensions', async () => {
    await expect(
      attributesOf({
        title: rule('string', 'title'),
        family: rule('string', 'name.familyName'),
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'keep' },
        level: { type: 'number', from: `${EXTENSION}:level`, onEmpty: 'keep' },
        mails: rule('string_array', 'emails.value'),
      }),
    ).resolves.toEqual({
      title: 'Countess',
      family: 'L',
      country: 'PT',
      level: 3,
      mails: ['home@x', 'work@x'],
    });
  });

  it('mapped values do not depend on the order in which the user joined groups, by path and by expression', async () => {
    const names = ['EMEA', 'Sales', 'emea', 'É', 'Sales'];
    const joined = names.map((displayName, index) => ({ id: `g${index}`, displayName }));
    const attributes = {
      all: rule('string_array', 'groups.display'),
      some: rule('string_array', 'groups.display[$match($, /^(S|E)/)]'),
      first: rule('string', 'groups.display'),
    };
    const expected = await attributesOf(attributes, ada, joined);
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(joined, { minLength: joined.length }), async (order) => {
        await expect(attributesOf(attributes, ada, order)).resolves.toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it('attributes are mapped by JSONata from the resource, its id and its groups', async () => {
    await expect(
      attributesOf({
        contractor: rule('boolean', 'userType = "Contractor"'),
        label: rule('string', 'title & " " & id'),
        teams: rule('string_array', '$sort(groups.display)'),
        first: rule('string_array', '$filter(groups.display, function($name) { $name = "EMEA" })'),
      }),
    ).resolves.toEqual({ contractor: true, label: 'Countess id', teams: ['EMEA', 'Sales'], first: ['EMEA'] });
  });

  it('mapped lists are plain arrays without properties of JSONata', async () => {
    const { teams } = (await attributesOf({ teams: rule('string_array', '$sort(groups.display)') })) as {
      teams: string[];
    };
    expect(Object.keys(teams)).toEqual(['0', '1']);
  });

  it('a source value is missing → the mapping clears the attribute under onEmpty: clear, and leaves it out under onEmpty: keep', async () => {
    const mapped = await attributesOf(
      {
        kept: rule('string', 'nickName'),
        cleared: rule('string', 'nickName', 'clear'),
        keptList: rule('string_array', '$sort(groups.display)'),
        clearedList: rule('string_array', '$sort(groups.display)', 'clear'),
        none: rule('string', '$lookup($, "nothing")', 'clear'),
      },
      ada,
      [],
    );
    expect(mapped).toEqual({ cleared: null, clearedList: null, none: null });
  });

  it("an expression fails → the fault has the attribute's name and the reason, and other attributes keep their values", async () => {
    await expect(
      attributesOf({
        title: rule('string', 'title'),
        rank: rule('number', 'title'),
        broken: rule('string', '$number(title)'),
      }),
    ).resolves.toEqual({
      title: 'Countess',
      faults: [
        { attribute: 'rank', reason: 'is string and cannot become a number' },
        { attribute: 'broken', reason: expect.stringMatching(/^expression failed: /) },
      ],
    });
  });

  it('expressions do not modify the resource', async () => {
    const text = JSON.stringify(ada);
    await attributesOf({
      teams: rule('string_array', '$sort(groups.display)'),
      label: rule('string', 'title & "!"'),
    });
    expect(JSON.stringify(ada)).toBe(text);
  });
});

describe('the scope of a target', () => {
  const inScope = async (scope: string, memberOf = groups) =>
    (await mappingOf({ users: { scope } }).user(ada, 'id', memberOf)).inScope;

  it.each(['true', ' true ', 'active or true'])('the scope %j selects every user', async (scope) => {
    expect(isEveryone(scope)).toBe(true);
    await expect(inScope(scope)).resolves.toBe(true);
  });

  it("the scope of a target is a SCIM filter that can also use the user's groups", async () => {
    await expect(inScope('userType eq "contractor"')).resolves.toBe(true);
    await expect(inScope('userType eq "Employee" or title pr')).resolves.toBe(true);
    await expect(inScope('not (title pr)')).resolves.toBe(false);
    await expect(inScope('groups.display eq "Sales"')).resolves.toBe(true);
    await expect(inScope('groups.display eq "Sales"', [])).resolves.toBe(false);
  });
});

describe('mapping of group names', () => {
  const nameOf = (groupRules: Partial<MappingRules['groups']>) => {
    const mapping = mappingOf({ groups: { include: ['.*'], exclude: [], rename: [], ...groupRules } });
    return (name: string) => mapping.groupName(name);
  };

  it('group names are kept if included and not excluded', () => {
    const name = nameOf({ include: ['^team-', '^all$'], exclude: ['-test$'] });
    expect(['team-a', 'all', 'team-a-test', 'my-team-a'].map(name)).toEqual([
      'team-a',
      'all',
      undefined,
      undefined,
    ]);
  });

  it('a group is renamed by the first matching rule, with its capture groups', () => {
    const name = nameOf({
      rename: [
        { match: '^team-(.*)$', to: 'T $1' },
        { match: 'a', to: 'never' },
      ],
    });
    expect([name('team-a'), name('data'), name('x')]).toEqual(['T a', 'dneverta', 'x']);
  });

  it('renaming rules give the same group name in every call', () => {
    const name = nameOf({ include: ['team'] });
    expect([name('team'), name('team'), name('team')]).toEqual(['team', 'team', 'team']);
  });
});

describe('whether users are mapped again when a group changes', () => {
  it.each<[string, Partial<MappingRules>, boolean]>([
    ['no rule reads groups', { attributes: { title: rule('string', 'title') } }, false],
    [
      'an expression reads groups',
      { attributes: { t: rule('string_array', '$sort(groups.display)') } },
      true,
    ],
    ['a path reads groups', { attributes: { t: rule('string_array', 'groups.display') } }, true],
    ['the scope reads groups', { users: { scope: 'groups.display eq "x"' } }, true],
    [
      'an expression has "groups" only as part of a word',
      { attributes: { t: rule('string', '$lookup($, "subgroupsX")') } },
      false,
    ],
  ])('a change of a group maps its members again only if a rule reads groups: %s', (_what, rest, reads) => {
    expect(mappingOf(rest).rulesReadGroups).toBe(reads);
  });
});

describe('mapping rules that do not compile', () => {
  it.each<[string, Partial<MappingRules>]>([
    ['expression', { attributes: { a: rule('string', '$sum((') } }],
    ['path', { attributes: { a: rule('string', 'addresses[type eq') } }],
    ['scope', { users: { scope: 'active eq' } }],
    ['pattern', { groups: { include: ['('], exclude: [], rename: [] } }],
  ])('an invalid mapping rule is refused before the first sync: %s', (_what, rest) => {
    expect(() => mappingOf(rest)).toThrow();
  });
});
