// Tests the operations that make an account equal to its desired state.
import fc from 'fast-check';
import type { PlatformPatchOperation, WireUser } from '../../../src/platform/wire.ts';
import {
  attributeChanges,
  coreOperations,
  createBody,
  echoedAttributes,
  EXTENSION,
  fitsExtension,
  observedCore,
} from '../../../src/sync/diff.ts';
import type { Core } from '../../../src/sync/mapping/mapping.ts';

const PATHS = [
  'userName',
  'externalId',
  'displayName',
  'name.givenName',
  'name.familyName',
  'emails',
  'active',
];
const core = fc.dictionary(fc.constantFrom(...PATHS), fc.option(fc.string())) as fc.Arbitrary<Core>;

/** Returns the values after the platform applied the operations. */
function apply(applied: Core, operations: PlatformPatchOperation[]): Core {
  const next = { ...applied };
  for (const { op, path = '', value } of operations) {
    const single = Array.isArray(value) ? (value as { value: string }[])[0]?.value : value;
    next[path] = op === 'remove' ? null : (single as string);
  }
  return next;
}

describe('operations for core attributes', () => {
  it('the computed operations for core attributes leave no difference when applied', () => {
    fc.assert(
      fc.property(core, core, (desired, applied) => {
        const operations = coreOperations(desired, applied);
        expect(coreOperations(desired, apply(applied, operations))).toEqual([]);
        expect(operations.length).toBeLessThanOrEqual(Object.keys(desired).length);
      }),
    );
  });

  it('a core attribute without a desired value gets no operation, although the account has a value', () => {
    expect(coreOperations({ userName: 'a' }, { userName: 'a', displayName: 'theirs' })).toEqual([]);
  });

  it('a core attribute that is to be cleared gets a remove operation only if a value was applied', () => {
    expect(coreOperations({ displayName: null }, {})).toEqual([]);
    expect(coreOperations({ displayName: null }, { displayName: 'x' })).toEqual([
      { op: 'remove', path: 'displayName' },
    ]);
  });

  it('emails are written as a list with one primary entry', () => {
    expect(coreOperations({ emails: 'a@x' }, { emails: 'b@x' })).toEqual([
      { op: 'replace', path: 'emails', value: [{ value: 'a@x', primary: true }] },
    ]);
  });
});

describe('operations for user attributes', () => {
  it('changed user attributes differ no more once applied; an empty list differs from null, and undesired attributes do not count', () => {
    const attributes = fc.dictionary(
      fc.constantFrom('a', 'b', 'c'),
      fc.option(fc.oneof(fc.string(), fc.integer(), fc.array(fc.string()))),
    );
    fc.assert(
      fc.property(attributes, attributes, (desired, applied) => {
        const names = attributeChanges(desired, applied);
        const after = { ...applied, ...Object.fromEntries(names.map((name) => [name, desired[name]])) };
        expect(attributeChanges(desired, after)).toEqual([]);
      }),
    );
    expect(attributeChanges({ a: null, b: [], c: 1 }, { b: null, c: 1, d: 'theirs' })).toEqual(['b']);
  });
});

describe('the body that creates a user', () => {
  const desired = {
    inScope: true,
    active: true,
    core: {
      userName: 'ada',
      externalId: null,
      displayName: 'Ada',
      'name.givenName': 'A',
      'name.familyName': null,
      emails: 'a@x',
    },
    attributes: { country: 'PT', level: 3, ratio: 1.5, teams: ['x'], flag: true, none: null },
    faults: [],
  };
  const types = {
    country: 'string',
    level: 'number',
    ratio: 'number',
    teams: 'string_array',
    flag: 'boolean',
    none: 'string',
  } as const;

  it('the body that creates an account omits unset values, and has texts and whole numbers in the extension', () => {
    expect(createBody(desired, types, false)).toEqual({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', EXTENSION],
      userName: 'ada',
      displayName: 'Ada',
      name: { givenName: 'A' },
      emails: [{ value: 'a@x', primary: true }],
      active: false,
      [EXTENSION]: { country: 'PT', level: 3 },
    });
  });

  it('the body that creates an account has no extension URN if no extension value is set', () => {
    const body = createBody({ ...desired, core: { userName: 'ada' }, attributes: {} }, types, true);
    expect(body).toEqual({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: 'ada',
      active: true,
    });
  });

  it.each([
    ['string', 'x', true],
    ['string', 1, false],
    ['number', 1, true],
    ['number', 1.5, false],
    ['number', 2 ** 60, false],
    ['number', '1', false],
    ['boolean', true, false],
    ['string_array', ['x'], false],
    [undefined, 'x', false],
  ] as const)(
    'whether a %s attribute with the value %j fits into the SCIM extension: %p',
    (type, value, fits) => {
      expect(fitsExtension(type, value)).toBe(fits);
    },
  );
});

describe('observed values of an account', () => {
  const account: WireUser = {
    id: '7',
    userName: 'ADA',
    active: true,
    name: { givenName: 'A' },
    emails: [{ value: 'first@x' }, { value: 'main@x', primary: true }],
    [EXTENSION]: { country: 'PT', level: 4, unknown: 'x' },
  };

  it('values read from the account become the applied values, except those without a desired value', () => {
    const wanted = {
      userName: 'ada',
      externalId: null,
      displayName: 'Ada',
      'name.givenName': 'A',
      'name.familyName': null,
      emails: 'a@x',
    };
    const seen = observedCore(account, wanted);
    expect(seen).toEqual({
      active: true,
      userName: 'ADA',
      displayName: null,
      'name.givenName': 'A',
      emails: 'main@x',
    });
    expect(coreOperations(wanted, seen).map(({ path }) => path)).toEqual([
      'userName',
      'displayName',
      'emails',
    ]);
  });

  it('an account that is read without active counts neither as active nor as inactive', () => {
    expect(observedCore({ id: '7', userName: 'a', active: false }, {}).active).toBe(false);
    expect(observedCore({ id: '7', userName: 'a' }, {})).not.toHaveProperty('active');
  });

  it('the answer to a write confirms only attributes that are managed and have the desired type', () => {
    expect(echoedAttributes(account, { country: 'PT', level: 5, other: 'x' })).toEqual({
      country: 'PT',
      level: 4,
    });
    expect(echoedAttributes({ ...account, [EXTENSION]: { level: '5' } }, { level: 5 })).toEqual({ level: 5 });
    expect(echoedAttributes({ id: '7', userName: 'a' }, { level: 5 })).toEqual({});
  });

  it("a text in the platform's answer that looks like a list does not confirm a list value", () => {
    const shown = { ...account, [EXTENSION]: { teams: 'a,b' } };
    expect(attributeChanges({ teams: ['a', 'b'] }, echoedAttributes(shown, { teams: ['a', 'b'] }))).toEqual([
      'teams',
    ]);
  });
});
