// Tests the parser of PATCH messages and operations.
import { describe, expect, test } from '@jest/globals';
import { profileOf, type DeviationName } from '../../../../src/scim/index.ts';
import { ATTRIBUTES, auto, parsePatch, PATCH_OP, patchOp, refusal, rfc, USER, userType } from '../sample.ts';

const parse = (body: unknown, profile = auto) => parsePatch(userType, body, profile);

describe('PATCH messages', () => {
  const bodies: [string, unknown, string, string][] = [
    ['no object', [], '400 invalidSyntax', '400 invalidSyntax'],
    ['no Operations', { schemas: [PATCH_OP] }, '400 invalidSyntax', '400 invalidSyntax'],
    ['Operations is no list', { schemas: [PATCH_OP], Operations: {} }, '400 invalidSyntax', '400 invalidSyntax'],
    ['empty Operations (gh:AzureAD/SCIMReferenceCode#112)', patchOp(), 'accepted', '400 invalidValue'],
    ['no schemas', { Operations: [{ op: 'remove', path: 'title' }] }, 'accepted', '400 invalidSyntax'],
    ['other schema', { schemas: [USER], Operations: [] }, 'accepted', '400 invalidSyntax'],
    ['operations in lower case', { schemas: [PATCH_OP], operations: [{ op: 'remove', path: 'title' }] }, 'accepted', 'accepted'],
    ['stray id in the body', { ...patchOp({ op: 'remove', path: 'title' }), id: '1' }, 'accepted', 'accepted'],
  ]; // prettier-ignore
  test.each(bodies)(
    'a PATCH message with %s: %j is %s under auto and %s under rfc',
    (_name, body, lenient, strict) => {
      expect(refusal(() => parse(body))).toBe(lenient);
      expect(refusal(() => parse(body, rfc))).toBe(strict);
    },
  );

  test('a PATCH with more than 1,000 operations, or with more than 1,000 keys in a pathless one, answers 400 tooMany', () => {
    const many = (count: number) => patchOp(...Array<object>(count).fill({ op: 'remove', path: 'title' }));
    expect(parse(many(1000))).toHaveLength(1000);
    expect(refusal(() => parse(many(1001)))).toBe('400 tooMany');
    const keys = Object.fromEntries(
      Array.from({ length: 1001 }, (_, index) => [`emails[type eq "t${index}"].value`, 'x']),
    );
    expect(refusal(() => parse(patchOp({ op: 'add', value: keys })))).toBe('400 tooMany');
  });
});

describe('PATCH operations', () => {
  const operations: [string, unknown, string, string][] = [
    ['capitalised op', { op: 'Replace', path: 'title', value: 'x' }, 'accepted', '400 invalidSyntax'],
    ['unknown op', { op: 'move', path: 'title', value: 'x' }, '400 invalidSyntax', '400 invalidSyntax'],
    ['op missing', { path: 'title', value: 'x' }, '400 invalidSyntax', '400 invalidSyntax'],
    ['op is no text', { op: 1, path: 'title', value: 'x' }, '400 invalidSyntax', '400 invalidSyntax'],
    ['no object', 'replace', '400 invalidSyntax', '400 invalidSyntax'],
    ['null', null, '400 invalidSyntax', '400 invalidSyntax'],
    ['add without value', { op: 'add', path: 'title' }, '400 invalidValue', '400 invalidValue'],
    ['replace without value', { op: 'replace', path: 'title' }, '400 invalidValue', '400 invalidValue'],
    ['remove without path', { op: 'remove' }, '400 noTarget', '400 noTarget'],
    ['remove of the whole resource', { op: 'remove', path: USER }, '400 noTarget', '400 noTarget'],
    ['pathless text', { op: 'add', value: 'x' }, '400 invalidValue', '400 invalidValue'],
    ['pathless list', { op: 'add', value: [{}] }, '400 invalidValue', '400 invalidValue'],
    ['path is no text', { op: 'add', path: 1, value: 'x' }, '400 invalidPath', '400 invalidPath'],
    ['empty path', { op: 'add', path: '', value: { title: 'x' } }, 'accepted', 'accepted'],
    ['unknown attribute', { op: 'add', path: 'foo', value: 'x' }, 'accepted', '400 invalidPath'],
    ['unknown attribute, pathless', { op: 'add', value: { foo: 'x' } }, 'accepted', '400 invalidPath'],
    ['dotted key', { op: 'add', value: { 'name.givenName': 'x' } }, 'accepted', '400 invalidPath'],
    ['id by its path', { op: 'replace', path: 'id', value: 'x' }, '400 mutability', '400 mutability'],
    ['meta by its path', { op: 'replace', path: 'meta.created', value: 'x' }, '400 mutability', '400 mutability'],
    ['groups by their path', { op: 'add', path: 'groups', value: [{ value: 'g' }] }, '400 mutability', '400 mutability'],
    ['id, pathless', { op: 'replace', value: { id: 'x' } }, 'accepted', '400 mutability'],
    ['remove with a value', { op: 'remove', path: 'roles', value: [{ value: 'x' }] }, 'accepted', '400 invalidValue'],
    ['forbidden member', { op: 'add', path: `${ATTRIBUTES}:constructor`, value: 1 }, '400 invalidPath', '400 invalidPath'],
    ['forbidden member, nested', { op: 'add', value: { [ATTRIBUTES]: { prototype: 1 } } }, '400 invalidPath', '400 invalidPath'],
  ]; // prettier-ignore
  test.each(operations)(
    'a PATCH operation with %s: %j is %s under auto and %s under rfc',
    (_name, operation, lenient, strict) => {
      expect(refusal(() => parse(patchOp(operation)))).toBe(lenient);
      expect(refusal(() => parse(patchOp(operation), rfc))).toBe(strict);
    },
  );

  test('the error for an invalid PATCH names the number of the operation', () => {
    expect(() => parse(patchOp({ op: 'remove', path: 'title' }, { op: 'x' }))).toThrow('Operation 2');
  });

  test('a PATCH of an ignored attribute is reported as a deviation', () => {
    const seen: DeviationName[] = [];
    const profile = profileOf('auto', (kind) => seen.push(kind));
    expect(parse(patchOp({ op: 'replace', value: { foo: 1, id: '1' } }), profile)).toEqual([]);
    expect(seen).toEqual(['unknown-attribute', 'read-only-ignored']);
  });
});
