// Tests the parser of Bulk requests, their references, and the order of their operations.
import { describe, expect, test } from '@jest/globals';
import { planBulk } from '../../../src/scim/bulk-plan.ts';
import { postpone, referencesIn, replaceReferences } from '../../../src/scim/bulk-references.ts';
import { BULK_REQUEST_URN, parseBulkRequest } from '../../../src/scim/bulk-request.ts';
import { MAX_BULK_OPERATIONS } from '../../../src/scim/index.ts';
import { MAX_PATCH_OPERATIONS } from '../../../src/scim/patch/operation.ts';
import { auto, ENTERPRISE, refusal, rfc } from './sample.ts';

const message = (Operations: unknown, extra: object = {}) => ({
  schemas: [BULK_REQUEST_URN],
  Operations,
  ...extra,
});
const parse = (Operations: unknown, extra: object = {}) => parseBulkRequest(message(Operations, extra), rfc);
const user = (bulkId: string, data: object = {}) => ({ method: 'POST', path: '/Users', bulkId, data });
const group = (bulkId: string, ...members: string[]) => ({
  method: 'POST',
  path: '/Groups',
  bulkId,
  data: { displayName: bulkId, members: members.map((name) => ({ value: `bulkId:${name}` })) },
});
const patch = (path: string, value: unknown) => ({
  method: 'PATCH',
  path,
  data: { Operations: [{ value }] },
});
/** Returns the plan as text: `0 1 0+` runs 0, then 1, then completes 0. */
const planned = (...operations: unknown[]): string =>
  [...planBulk(parse(operations).operations)]
    .filter((step) => step !== undefined)
    .map(({ kind, index }) => (kind === 'run' ? `${index}` : `${index}+`))
    .join(' ');

describe('the Bulk message (RFC 7644 §3.7)', () => {
  test('a Bulk request is parsed with names in any letter case, and null means absent', () => {
    const raw = {
      Method: 'PUT',
      PATH: '/Users/7/',
      version: 'W/"3"',
      bulkId: null,
      data: { userName: 'jo' },
    };
    expect(parse([raw], { failOnErrors: 2 })).toEqual({
      failOnErrors: 2,
      operations: [
        {
          method: 'PUT',
          bulkId: undefined,
          target: { endpoint: 'Users', id: '7' },
          version: 'W/"3"',
          data: { userName: 'jo' },
          fault: undefined,
        },
      ],
    });
    expect(parse([raw]).failOnErrors).toBe(Infinity);
  });

  test.each([
    ['no object', [], '400 invalidSyntax'],
    ['no schemas', { Operations: [user('a')] }, '400 invalidSyntax'],
    ['Operations missing', message(undefined), '400 invalidSyntax'],
    ['Operations an object', message({ 0: user('a') }), '400 invalidSyntax'],
    ['nothing to do', message([]), '400 invalidValue'],
    ['an operation that is text', message(['POST']), '400 invalidSyntax'],
    ['an operation that is null', message([null]), '400 invalidSyntax'],
    ['no method', message([{ path: '/Users' }]), '400 invalidSyntax'],
    ['a bulkId that is a number', message([{ ...user('a'), bulkId: 1 }]), '400 invalidSyntax'],
    ['a path that is a list', message([{ ...user('a'), path: ['/Users'] }]), '400 invalidSyntax'],
    ['a version that is a number', message([{ ...user('a'), version: 1 }]), '400 invalidSyntax'],
    ['a bulkId twice', message([user('a'), user('a')]), '400 invalidValue'],
    ...[0, -1, 1.5, '1', true, {}].map(
      (limit) =>
        [
          `failOnErrors ${JSON.stringify(limit)}`,
          message([user('a')], { failOnErrors: limit }),
          '400 invalidValue',
        ] as const,
    ),
    ['too many operations', message(Array(MAX_BULK_OPERATIONS + 1).fill(user('a'))), '413'],
  ])('a Bulk request with %s is refused as a whole', (_what, body, expected) => {
    expect(refusal(() => parseBulkRequest(body, rfc))).toBe(expected);
  });

  test('the profile auto accepts a Bulk request without message schema, without operations, and with failOnErrors as text', () => {
    expect(parseBulkRequest({ operations: [], failOnErrors: '3' }, auto)).toEqual({
      failOnErrors: 3,
      operations: [],
    });
  });

  test.each([
    [{ method: 'GET', path: '/Users/1' }, 400],
    [{ method: 'post', path: '/Users', bulkId: 'a' }, 400],
    [{ method: 'POST', path: '/Users' }, 400],
    [{ method: 'POST', path: '/Users/1', bulkId: 'a' }, 405],
    [{ method: 'POST', path: '/Users/.search', bulkId: 'a' }, 405],
    [{ method: 'DELETE', path: '/Users' }, 405],
    [{ method: 'PUT', path: '/Me' }, 404],
    [{ method: 'POST', path: '/Bulk', bulkId: 'a' }, 404],
    [{ method: 'DELETE', path: 'https://other.example/Users/1' }, 404],
    [{ method: 'DELETE', path: '/Users/1/../2' }, 404],
    [{ method: 'DELETE', path: '/constructor/1' }, 404],
    [{ method: 'DELETE', path: '/Users/\ud800' }, 404],
    [{ method: 'DELETE', path: `/Users/${'x'.repeat(1001)}` }, 404],
    [{ method: 'DELETE' }, 404],
  ])(
    'the operation %j of a Bulk request gets its own error with status %d, without failing the request',
    (raw, status) => {
      expect(parse([raw]).operations[0]?.fault).toMatchObject({ status });
    },
  );

  test('Bulk maxOperations is never above the PATCH limit, because authentik also uses it for PATCH', () => {
    expect(MAX_BULK_OPERATIONS).toBeLessThanOrEqual(MAX_PATCH_OPERATIONS);
  });
});

describe('bulkId references (RFC 7644 §3.7.2)', () => {
  const data = JSON.parse(
    '{"members":[{"value":"bulkId:a"},{"value":"x"}],"deep":{"__proto__":{"$ref":"/Users/bulkId:b"}},"t":"no bulkId:c"}',
  ) as unknown;

  test('a bulkId reference is found as a whole text and at the end of an address, also in nested values', () => {
    expect([...referencesIn(data)]).toEqual(['a', 'b']);
    expect([...referencesIn('bulkId:')]).toEqual([]);
    expect([...referencesIn('bulkId:bulkId:a')]).toEqual(['bulkId:a']);
  });

  test('known bulkId references are replaced in a copy, and keys stay unchanged', () => {
    const before = JSON.stringify(data);
    const after = replaceReferences(
      data,
      new Map([
        ['a', '1'],
        ['b', '2'],
      ]),
    );
    expect(JSON.stringify(after)).toBe(
      before.replace('bulkId:a', '1').replace('/Users/bulkId:b', '/Users/2'),
    );
    expect(JSON.stringify(data)).toBe(before);
    expect(replaceReferences('bulkId:constructor', new Map())).toBe('bulkId:constructor');
    expect(({} as Record<string, unknown>).$ref).toBeUndefined();
  });

  test('a bulkId reference nested in up to 40 arrays or objects is found and replaced, and one nested deeper is left unchanged', () => {
    const nested = (depth: number, text: string): unknown =>
      depth === 0 ? text : depth % 2 ? [nested(depth - 1, text)] : { a: nested(depth - 1, text) };
    expect([...referencesIn(nested(40, 'bulkId:a'))]).toEqual(['a']);
    expect([...referencesIn(nested(41, 'bulkId:a'))]).toEqual([]);
    const ids = new Map([['a', '1']]);
    expect(replaceReferences(nested(40, 'bulkId:a'), ids)).toEqual(nested(40, '1'));
    expect(replaceReferences(nested(41, 'bulkId:a'), ids)).toEqual(nested(41, 'bulkId:a'));
    let deep: unknown = 'bulkId:a';
    for (let n = 0; n < 200_000; n++) deep = [deep];
    expect([...referencesIn(deep)]).toEqual([]);
    expect(() => replaceReferences(deep, new Map([['a', '1']]))).not.toThrow();
  });

  test('the creation of a bulk resource is split if members or a complex attribute refer to a later bulkId, but not for a simple value', () => {
    const pending = (name: string): boolean => name === 'a';
    const manager = { manager: { value: 'bulkId:a' }, department: 'd' };
    const members = [{ value: 'bulkId:a' }, { value: 'bulkId:known' }];
    expect(postpone({ displayName: 'g', members, [ENTERPRISE]: manager }, pending)).toEqual({
      now: { displayName: 'g', members: [members[1]], [ENTERPRISE]: { department: 'd' } },
      later: { members: [members[0]], [ENTERPRISE]: { manager: manager.manager } },
    });
    expect(postpone({ displayName: 'bulkId:a' }, pending)).toBeUndefined();
    expect(postpone({ [ENTERPRISE]: { department: 'bulkId:a' } }, pending)).toBeUndefined();
    expect(postpone(['bulkId:a'], pending)).toBeUndefined();
  });
});

describe('order of bulk operations (RFC 7644 §3.7, §3.7.1)', () => {
  test('bulk operations without references to later operations are executed in their order', () => {
    expect(planned(user('a'), group('g', 'a'), patch('/Groups/bulkId:g', 'bulkId:a'), user('b'))).toBe(
      '0 1 2 3',
    );
  });

  test('a bulk operation that refers to a later bulkId waits for it, and all other operations keep their order', () => {
    expect(planned(group('g', 'a', 'b'), user('b'), { method: 'DELETE', path: '/Users/1' }, user('a'))).toBe(
      '1 2 3 0',
    );
    expect(planned(patch('/Groups/bulkId:g', 'x'), group('g', 'a'), user('a'))).toBe('2 1 0');
  });

  test('bulk operations on one resource are executed in their order, even if the first has to wait', () => {
    const remove = { method: 'DELETE', path: '/Groups/1' };
    expect(planned(patch('/Groups/1', 'bulkId:a'), remove, user('a'))).toBe('2 0 1');
  });

  test('a bulkId reference that is unknown, or whose target cannot be created, delays no operation', () => {
    expect(
      planned(group('g', 'nobody', 'constructor'), group('h', 'bad'), { ...user('bad'), path: '/X' }),
    ).toBe('0 1 2');
  });

  const withManager = (bulkId: string, manager: string) =>
    user(bulkId, { userName: bulkId, [ENTERPRISE]: { manager: { value: `bulkId:${manager}` } } });

  test('groups and users of a Bulk request refer to each other in a circle → a group is created incomplete, and completed once its members exist', () => {
    expect(planned(group('g', 'h'), group('h', 'g'), user('u'))).toBe('2 0 1 0+');
    expect(planned(withManager('u', 'v'), group('g', 'v'), withManager('v', 'g'))).toBe('1 2 1+ 0');
  });

  test('a bulk resource that refers to its own bulkId is created, and completed right afterwards', () => {
    expect(planned(group('g', 'g'), withManager('u', 'u'))).toBe('0 0+ 1 1+');
  });

  test("bulk users who are each other's managers are created first and then completed", () => {
    expect(planned(withManager('u', 'v'), withManager('v', 'w'), withManager('w', 'u'))).toBe('0 2 1 0+');
  });

  test('a bulk operation that changes an incomplete group is executed after the group is complete', () => {
    expect(planned(group('g', 'h'), patch('/Groups/bulkId:g', 'x'), group('h', 'g'))).toBe('0 2 0+ 1');
  });

  test('simple values of bulk operations refer to each other in a circle → the operations are executed unsplit, before operations that refer to them', () => {
    const named = (bulkId: string, name: string) => user(bulkId, { userName: `bulkId:${name}` });
    expect(
      planned(patch('/Users/bulkId:u', 'bulkId:g'), named('u', 'v'), named('v', 'u'), group('g', 'v')),
    ).toBe('1 2 3 0');
  });

  test('a thousand bulk operations that refer to each other are ordered in bounded time', () => {
    const names = Array.from({ length: MAX_BULK_OPERATIONS }, (_, n) => `g${n}`);
    const started = performance.now();
    const ring = planned(...names.map((name, n) => group(name, `g${(n + 1) % names.length}`)));
    expect(ring.split(' ')).toHaveLength(names.length + 1);
    const dense = names.slice(0, 300);
    const steps = planned(...dense.map((name) => group(name, ...dense))).split(' ');
    expect(steps).toHaveLength(2 * dense.length);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
