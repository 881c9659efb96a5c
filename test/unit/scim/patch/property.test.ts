// Tests properties of PATCH with random operations and resources.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  membersOf,
  parseResource,
  ScimError,
  splitMembers,
  type Resource,
} from '../../../../src/scim/index.ts';
import {
  applyPatch,
  ATTRIBUTES,
  auto,
  ENTERPRISE,
  groupType,
  parsePatch,
  patched,
  patchOp,
  user,
  userType,
} from '../sample.ts';

const word = fc.constantFrom('a', 'A', 'b', 'x y', '"', '\\', 'é', 'a.b:c]', 'True');
const kind = fc.constantFrom('work', 'home', 'other');
const email = fc.record({ value: word, type: kind, primary: fc.boolean() }, { requiredKeys: ['value'] });
const users = fc
  .record({
    title: word,
    active: fc.boolean(),
    name: fc.record({ givenName: word, familyName: word }, { requiredKeys: [] }),
    emails: fc.array(email, { maxLength: 3 }),
    [ENTERPRISE]: fc.record({ department: word, manager: word }, { requiredKeys: [] }),
    [ATTRIBUTES]: fc.record({ region: word, regions: fc.array(word), free: fc.array(word), n: fc.integer() }, { requiredKeys: [] }),
  }, { requiredKeys: [] })
  .map(user); // prettier-ignore

const quote = JSON.stringify;
const settings = fc.oneof(
  fc.record({ path: fc.constantFrom('title', 'name.givenName', `${ENTERPRISE}:department`, `${ATTRIBUTES}:region`, `${ATTRIBUTES}:free`, 'manager', 'manager.value'), value: word }),
  fc.record({ path: fc.constant('active'), value: fc.constantFrom(true, false, 'True', 'False') }),
  fc.record({ path: fc.constant('emails'), value: fc.array(email, { maxLength: 3 }) }),
  fc.record({ path: kind.map((type) => `emails[type eq ${quote(type)}].value`), value: word }),
  fc.record({ path: word.map((value) => `emails[value eq ${quote(value)}].type`), value: kind }),
  fc.record({ path: word.map((value) => `roles[value eq ${quote(value)} and primary eq true].display`), value: word }),
  fc.record({ path: fc.constant('name'), value: fc.record({ givenName: fc.option(word), middleName: word }, { requiredKeys: [] }) }),
  fc.record({ path: fc.constant(`${ATTRIBUTES}:regions`), value: fc.array(word) }),
); // prettier-ignore
const operations = fc.array(
  fc.oneof(
    settings.map((setting) => ({ op: 'replace', ...setting })),
    settings.map((setting) => ({ op: 'Add', ...setting })),
    settings.map(({ path }) => ({ op: 'Remove', path })),
    settings.map(({ path, value }) => ({ op: 'replace', value: { [path]: value } })),
  ),
  { maxLength: 5 },
);

const text = JSON.stringify;

// Refusals are allowed (such as a list for a single value); other errors are not.
function attempt(act: () => Resource): Resource | undefined {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof ScimError)) throw error;
    return undefined;
  }
}

test('a PATCH replace applied twice equals one applied once (RFC 7644 §3.5.2.3)', () => {
  fc.assert(
    fc.property(users, settings, (resource, setting) => {
      const operation = { op: 'replace', ...setting };
      const once = attempt(() => patched(resource, [operation]));
      if (once) expect(text(patched(once, [operation]))).toBe(text(once));
    }),
    { numRuns: 1000 },
  );
});

test('a PATCH add applied twice equals one applied once', () => {
  fc.assert(
    fc.property(users, settings, (resource, setting) => {
      const operation = { op: 'add', ...setting };
      const once = attempt(() => patched(resource, [operation]));
      if (once) expect(text(patched(once, [operation]))).toBe(text(once));
    }),
    { numRuns: 1000 },
  );
});

test('applyPatch does not modify its input at any depth', () => {
  const freeze = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  };
  fc.assert(
    fc.property(users, operations, (resource, list) => {
      const before = text(resource);
      freeze(resource);
      freeze(list);
      attempt(() => patched(resource, list));
      expect(text(resource)).toBe(before);
    }),
    { numRuns: 500 },
  );
});

test('a patched resource is canonical, so parsing it again gives an equal text', () => {
  fc.assert(
    fc.property(users, operations, (resource, list) => {
      const result = attempt(() => patched(resource, list));
      if (!result) return;
      expect(text(parseResource(userType, result, auto))).toBe(text(result));
      const primaries = ((result.emails ?? []) as { primary?: boolean }[]).filter((each) => each.primary);
      expect(primaries.length).toBeLessThanOrEqual(1);
    }),
    { numRuns: 500 },
  );
});

test('PATCH add of a missing value and then remove of it restores the resource', () => {
  const additions: [object, object][] = [
    [{ op: 'add', path: 'nickName', value: 'n' }, { op: 'remove', path: 'nickName' }],
    [{ op: 'add', path: 'ims', value: [{ value: 'n', type: 'x' }] }, { op: 'remove', path: 'ims[value eq "n"]' }],
    [{ op: 'add', path: 'emails', value: [{ value: 'new' }] }, { op: 'remove', path: 'emails', value: [{ value: 'new' }] }],
    [{ op: 'add', path: 'emails[type eq "new"].value', value: 'n' }, { op: 'remove', path: 'emails[type eq "new"].value' }],
    [{ op: 'add', path: 'addresses[type eq "new"].country', value: 'n' }, { op: 'remove', path: 'addresses[type eq "new"].country' }],
    [{ op: 'add', path: `${ENTERPRISE}:division`, value: 'n' }, { op: 'remove', path: `${ENTERPRISE}:division` }],
    [{ op: 'add', path: `${ATTRIBUTES}:new`, value: ['n'] }, { op: 'remove', path: `${ATTRIBUTES}:new`, value: ['n'] }],
    [{ op: 'add', path: `${ATTRIBUTES}:regions`, value: ['new'] }, { op: 'remove', path: `${ATTRIBUTES}:regions[value eq "new"]` }],
    [{ op: 'add', path: 'name.middleName', value: 'n' }, { op: 'remove', path: 'name.middleName' }],
  ]; // prettier-ignore
  fc.assert(
    fc.property(users, fc.constantFrom(...additions), (resource, [add, remove]) => {
      expect(text(patched(patched(resource, [add]), [remove]))).toBe(text(resource));
    }),
    { numRuns: 500 },
  );
});

test('PATCH with any JSON gives a resource or a ScimError, and leaves Object.prototype unchanged', () => {
  const before = Object.getOwnPropertyNames(Object.prototype).sort();
  const nasty = fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'constructor.prototype.x', `${ATTRIBUTES}:__proto__`, `${ATTRIBUTES}:toString`, `${ATTRIBUTES}:constructor.x`, 'emails[__proto__ eq "x"].y', 'name.__proto__', 'emails', 'active', 'members', ATTRIBUTES, ENTERPRISE, 'emails[type eq "work"]', 'schemas', 'meta', 'password'); // prettier-ignore
  const key = fc.oneof(nasty, fc.string());
  const value = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue(),
      nasty,
      fc.array(tie('any'), { maxLength: 3 }),
      // The body is parsed, so that __proto__ is an own key, as in a request.
      fc.array(fc.tuple(key, tie('any')), { maxLength: 3 }).map(
        (pairs) => JSON.parse(`{${pairs.map(([name, item]) => `${text(name)}:${text(item) ?? 'null'}`).join()}}`) as unknown,
      ),
    ),
  })).any; // prettier-ignore
  const operation = fc.record(
    { op: fc.constantFrom('add', 'Replace', 'remove', 'x'), path: fc.oneof(key, value), value },
    { requiredKeys: ['op'] },
  );
  const start = user({ emails: [{ value: 'a', type: 'work' }], [ATTRIBUTES]: { region: 'eu', free: 1 } });
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 3 }), value, (list, body) => {
      attempt(() => patched(start, list));
      attempt(() => parseResource(userType, body, auto));
      attempt(() => user({ [ATTRIBUTES]: body, [ENTERPRISE]: body, emails: body, name: body }));
      attempt(() => {
        membersOf(body);
        const { rest } = splitMembers(parsePatch(groupType, patchOp(...list), auto));
        return applyPatch(groupType, { schemas: [], displayName: 'g' }, rest, auto);
      });
      attempt(() => applyPatch(userType, start, parsePatch(userType, body, auto), auto));
    }),
    { numRuns: 3000 },
  );
  expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(before);
});
