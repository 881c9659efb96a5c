// Tests the validation of custom schemas in the settings.
import { configChecks } from '../../../src/sync/mapping/config-checks.ts';
import { faultsOf, KEY, loadText, SECRET } from './settings-folder.ts';

const URN = 'urn:acme:params:scim:schemas:2.0:Person';
const AT = '/connections/default/schemas/0';

/**
 * Returns a settings file with these custom schemas; `others` are further connections, `from` is a path in the
 * mapping of main.
 */
function file(
  schemas: unknown,
  { others = {}, from = 'title' }: { others?: object; from?: string } = {},
): string {
  const connection = (list: unknown, targets = ['main']) => ({
    tokens: [{ name: 'primary', secret: SECRET }],
    targets,
    schemas: list,
  });
  const more = Object.entries(others as Record<string, { schemas: unknown; targets: string[] }>);
  return JSON.stringify({
    connections: {
      default: connection(schemas),
      ...Object.fromEntries(more.map(([name, each], n) => [name, { ...connection(each.schemas, each.targets), tokens: [{ name: 'primary', secret: `${SECRET}-${n}` }] }])),
    },
    targets: Object.fromEntries(
      ['main', 'second'].map((name) => [
        name,
        { url: `https://${name}.example.com`, token: KEY, attributes: name === 'main' ? { a: { type: 'string', from } } : {} },
      ]),
    ),
  }); // prettier-ignore
}

const schema = (...attributes: unknown[]): object => ({ id: URN, name: 'Person', attributes });
const faults = (schemas: unknown, more = {}) => faultsOf(file(schemas, more), {}, configChecks);

test('a custom attribute with a name only gets the defaults of RFC 7643 §2.2', () => {
  const { schemas } =
    loadText(file([schema({ name: 'costCode' })]), {}, configChecks).connections.default ?? {};
  expect(schemas).toEqual([
    {
      id: URN,
      name: 'Person',
      description: '',
      resourceType: 'User',
      required: false,
      attributes: [
        {
          name: 'costCode',
          type: 'string',
          description: '',
          multiValued: false,
          required: false,
          caseExact: false,
          mutability: 'readWrite',
          returned: 'default',
          uniqueness: 'none',
          canonicalValues: [],
          referenceTypes: [],
          subAttributes: [],
        },
      ],
    },
  ]);
});

describe('custom schemas that the bridge cannot support', () => {
  const attribute = (more: object): unknown[] => [schema({ name: 'a', ...more })];
  const part = (more: object): unknown[] =>
    attribute({ type: 'complex', subAttributes: [{ name: 'p', ...more }] });
  const TABLE: [what: string, schemas: unknown[], path: string, message: RegExp][] = [
    ['uniqueness', attribute({ uniqueness: 'server' }), '/attributes/0/uniqueness', /Must be one of: none/],
    ['readOnly', attribute({ mutability: 'readOnly' }), '/attributes/0/mutability', /readWrite, immutable/],
    ['writeOnly', attribute({ mutability: 'writeOnly' }), '/attributes/0/mutability', /readWrite, immutable/],
    ['never returned', attribute({ returned: 'never' }), '/attributes/0/returned', /default, always, request/],
    ['binary', attribute({ type: 'binary' }), '/attributes/0/type', /Must be one of/],
    ['an unknown key', attribute({ unique: true }), '/attributes/0/unique', /not known/],
    ['a name with a dot', attribute({ name: 'a.b' }), '/attributes/0/name', /right form/],
    ['__proto__', attribute({ name: '__proto__' }), '/attributes/0/name', /right form/],
    ['constructor', attribute({ name: 'constructor' }), '/attributes/0/name', /cannot be used/],
    ['no attributes', [schema()], '/attributes', /at least one entry/],
    ['complex without parts', attribute({ type: 'complex' }), '/attributes/0/subAttributes', /at least one part/],
    ['parts of text', attribute({ subAttributes: [{ name: 'p' }] }), '/attributes/0/subAttributes', /type: complex/],
    ['parts of parts', part({ type: 'complex' }), '/attributes/0/subAttributes/0/type', /Must be one of/],
    ['lists in parts', part({ multiValued: true }), '/attributes/0/subAttributes/0/multiValued', /not known/],
    ['no URN', [{ ...schema({ name: 'a' }), id: 'Person' }], '/id', /right form/],
    ['a URN that ends in a colon', [{ ...schema({ name: 'a' }), id: `${URN}:` }], '/id', /right form/],
    ['the core URN', [{ ...schema({ name: 'a' }), id: 'urn:ietf:params:scim:schemas:core:2.0:User' }], '/id', /built in/],
    ['the enterprise URN', [{ ...schema({ name: 'a' }), id: 'URN:ietf:params:scim:schemas:extension:enterprise:2.0:User'.replace('URN', 'urn') }], '/id', /built in/],
    ['a URN before a built-in attribute', [{ ...schema({ name: 'a' }), id: 'urn:cube:params:1.0:UserAttribute:region' }], '/id', /built in/],
  ]; // prettier-ignore
  test.each(TABLE)('a custom schema is refused: %s', (_what, schemas, path, message) => {
    expect(faults(schemas)).toContainEqual({
      path: AT + path,
      message: expect.stringMatching(message),
    });
  });

  test('two attributes or sub-attributes of a custom schema whose names differ only in case are refused', () => {
    const twice = [{ name: 'a' }, { name: 'A' }];
    expect(faults([schema(...twice)]).map(({ path }) => path)).toEqual([`${AT}/attributes/1/name`]);
    const parts = faults([schema({ name: 'c', type: 'complex', subAttributes: twice })]);
    expect(parts.map(({ path }) => path)).toEqual([`${AT}/attributes/0/subAttributes/1/name`]);
  });

  test('a custom schema URN that is declared twice in a connection, or differently in two connections, is a fault', () => {
    expect(faults([schema({ name: 'a' }), schema({ name: 'a' })])).toEqual([
      { path: '/connections/default/schemas/1/id', message: expect.stringContaining('twice') },
    ]);
    expect(faults([schema({ name: 'a' }), schema({ name: 'b' })])).toEqual([
      { path: '/connections/default/schemas/1/id', message: expect.stringContaining('twice') },
    ]);
    const others = (name: string) => ({ others: { hr: { schemas: [schema({ name })], targets: ['main'] } } });
    expect(faults([schema({ name: 'a' })], others('b'))).toEqual([
      { path: '/connections/hr/schemas/0', message: expect.stringContaining('other content') },
    ]);
    expect(() => loadText(file([schema({ name: 'a' })], others('a')), {}, configChecks)).not.toThrow();
  });
});

describe('mappings that read custom attributes', () => {
  const from = `${URN}:costCode`;
  const hr = { hr: { schemas: [schema({ name: 'costCode' })], targets: ['second'] } };

  test('a mapping may read a custom attribute only of a connection that pushes to the same target', () => {
    expect(() => loadText(file([schema({ name: 'costCode' })], { from }), {}, configChecks)).not.toThrow();
    expect(faults([], { from, others: hr })).toEqual([
      {
        path: '/targets/main/attributes/a/from',
        message: expect.stringContaining('No schema declares'),
      },
    ]);
    expect(faults([schema({ name: 'other' })], { from }).map(({ path }) => path)).toEqual([
      '/targets/main/attributes/a/from',
    ]);
  });

  test('a malformed custom schema is reported as one fault, not two', () => {
    expect(faults([{ id: URN, name: 'Person' }], { from }).map(({ path }) => path)).toEqual([
      `${AT}/attributes`,
    ]);
  });
});
