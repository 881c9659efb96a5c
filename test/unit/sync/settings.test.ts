// Tests typed-members.ts and config-checks.ts.
import { configChecks } from '../../../src/sync/config-checks.ts';
import type { AttributeRule } from '../../../src/sync/mapping.ts';
import { typedMembers } from '../../../src/sync/typed-members.ts';

const URN = 'urn:cube:params:1.0:UserAttribute';
const target = (attributes: Record<string, Partial<AttributeRule>>) => ({
  attributes: attributes as Record<string, AttributeRule>,
});

describe('types of extension members', () => {
  it('an extension member has the type of the attribute that reads it', () => {
    expect(typedMembers([target({ region: { type: 'string_array', from: `${URN}:area` } })])).toEqual([
      { name: 'area', type: 'string_array' },
    ]);
  });

  it('an unread extension member has the type of the attribute with the same name', () => {
    const attributes = target({
      level: { type: 'number', from: 'title' },
      flag: { type: 'boolean', expression: 'true' },
    });
    expect(typedMembers([attributes])).toEqual([
      { name: 'level', type: 'number' },
      { name: 'flag', type: 'boolean' },
    ]);
  });

  it('extension URNs are known in any letter case, and the member keeps its case', () => {
    const [member] = typedMembers([target({ x: { type: 'number', from: `${URN.toUpperCase()}:Level` } })]);
    expect(member).toEqual({ name: 'Level', type: 'number' });
  });

  it('an extension member is typed if all targets agree, and untyped otherwise', () => {
    const number = target({ level: { type: 'number' } });
    expect(typedMembers([number, number])).toEqual([{ name: 'level', type: 'number' }]);
    expect(typedMembers([number, target({ level: { type: 'string' } })])).toEqual([]);
    expect(typedMembers([])).toEqual([]);
  });
});

describe('checks of settings by their grammar', () => {
  it.each(['userType = "Contractor"', '$sort(groups.display)', '1'])(
    'the expression %s is accepted',
    (text) => {
      expect(configChecks.expression(text)).toBeUndefined();
    },
  );

  it.each(['true', 'active or true', 'active eq true', 'groups.display sw "a" and not (title pr)'])(
    'the scope %s is accepted',
    (text) => {
      expect(configChecks.scopeFilter(text, [])).toBeUndefined();
    },
  );

  it.each(['title', 'addresses[type eq "work"].country', `${URN}:level`, 'name.givenName'])(
    'the path %s is accepted',
    (text) => {
      expect(configChecks.attributePath(text, [])).toBeUndefined();
    },
  );

  it.each([
    ['expression', '$sum((', /Write a JSONata expression/],
    ['scopeFilter', 'active eq', /Write a SCIM filter/],
    ['scopeFilter', '', /Write a SCIM filter/],
    ['attributePath', 'addresses[type eq', /Write a SCIM path/],
    ['attributePath', '', /Write a SCIM path/],
  ] as const)('config checks explain the fault of %s %j and how to correct it', (check, text, advice) => {
    expect(configChecks[check](text, [])).toMatch(advice);
  });
});
