// Tests the types of attributes in the extension UserAttribute, and the checks of expressions, scopes and paths in
// the settings.
import { configChecks } from '../../../src/sync/mapping/config-checks.ts';
import type { AttributeRule } from '../../../src/sync/mapping/mapping.ts';
import { typedUserAttributes } from '../../../src/sync/mapping/typed-user-attributes.ts';

const URN = 'urn:cube:params:1.0:UserAttribute';
const target = (attributes: Record<string, Partial<AttributeRule>>) => ({
  attributes: attributes as Record<string, AttributeRule>,
});

describe('types of the attributes of the extension UserAttribute', () => {
  it('a UserAttribute extension attribute has the type of the platform attribute that reads it', () => {
    expect(typedUserAttributes([target({ region: { type: 'string_array', from: `${URN}:area` } })])).toEqual([
      { name: 'area', type: 'string_array' },
    ]);
  });

  it('a UserAttribute extension attribute that no rule reads has the type of the platform attribute with its name', () => {
    const attributes = target({
      level: { type: 'number', from: 'title' },
      flag: { type: 'boolean', expression: 'true' },
    });
    expect(typedUserAttributes([attributes])).toEqual([
      { name: 'level', type: 'number' },
      { name: 'flag', type: 'boolean' },
    ]);
  });

  it('the UserAttribute URN is recognised in any letter case, and the attribute name keeps its case', () => {
    const [attribute] = typedUserAttributes([
      target({ x: { type: 'number', from: `${URN.toUpperCase()}:Level` } }),
    ]);
    expect(attribute).toEqual({ name: 'Level', type: 'number' });
  });

  it('a UserAttribute extension attribute is in the schema only if all targets agree on its type', () => {
    const number = target({ level: { type: 'number' } });
    expect(typedUserAttributes([number, number])).toEqual([{ name: 'level', type: 'number' }]);
    expect(typedUserAttributes([number, target({ level: { type: 'string' } })])).toEqual([]);
    expect(typedUserAttributes([])).toEqual([]);
  });
});

describe('checks of settings by their grammar', () => {
  it.each(['userType = "Contractor"', '$sort(groups.display)', '1'])(
    'config checks accept the expression %s',
    (text) => {
      expect(configChecks.expression(text)).toBeUndefined();
    },
  );

  it.each(['true', 'active or true', 'active eq true', 'groups.display sw "a" and not (title pr)'])(
    'config checks accept the scope %s',
    (text) => {
      expect(configChecks.scopeFilter(text, [])).toBeUndefined();
    },
  );

  it.each(['title', 'addresses[type eq "work"].country', `${URN}:level`, 'name.givenName'])(
    'config checks accept the path %s',
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
  ] as const)('config checks report the fault of %s %j and how to correct it', (check, text, advice) => {
    expect(configChecks[check](text, [])).toMatch(advice);
  });
});
