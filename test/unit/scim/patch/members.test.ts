// Tests how PATCH, POST and PUT of a group become changes of its members.
import { describe, expect, test } from '@jest/globals';
import {
  evaluateFilter,
  membersOf,
  profileOf,
  splitMembers,
  type PatchMemberStep,
  type Resource,
} from '../../../../src/scim/index.ts';
import { applyPatch, auto, GROUP, groupType, parsePatch, patchOp, refusal, rfc } from '../sample.ts';

const split = (...operations: object[]) => splitMembers(parsePatch(groupType, patchOp(...operations), auto));
const steps = (...operations: object[]): PatchMemberStep[] => split(...operations).steps;

describe('conversion of PATCH operations to member steps', () => {
  const situations: [string, object, PatchMemberStep[]][] = [
    ['Entra default add', { op: 'Add', path: 'members', value: [{ $ref: null, value: '9' }] }, [{ kind: 'add', values: ['9'] }]],
    ['Entra default remove removes the listed members only', { op: 'Remove', path: 'members', value: [{ $ref: null, value: '9' }] }, [{ kind: 'remove', values: ['9'] }]],
    ['Entra aadOptscim062020 remove', { op: 'remove', path: 'members[value eq "9"]' }, [{ kind: 'remove', values: ['9'] }]],
    ['Okta add with display', { op: 'add', path: 'members', value: [{ value: '9', display: 'jo@x.example' }] }, [{ kind: 'add', values: ['9'] }]],
    ['Okta full replace', { op: 'replace', path: 'members', value: [{ value: '8' }, { value: '9' }] }, [{ kind: 'replace', values: ['8', '9'] }]],
    ['Okta empty replace', { op: 'replace', path: 'members', value: [] }, [{ kind: 'replace', values: [] }]],
    ['replace with null', { op: 'replace', path: 'members', value: null }, [{ kind: 'replace', values: [] }]],
    ['authentik, one operation per member', { op: 'remove', path: 'members', value: [{ value: '9' }] }, [{ kind: 'remove', values: ['9'] }]],
    ['several members in one operation', { op: 'Add', path: 'members', value: [{ value: '1' }, { value: '2' }, { value: '1' }] }, [{ kind: 'add', values: ['1', '2'] }]],
    ['a bare member', { op: 'add', path: 'members', value: '9' }, [{ kind: 'add', values: ['9'] }]],
    ['bare members', { op: 'add', path: 'members', value: ['9', 8] }, [{ kind: 'add', values: ['9', '8'] }]],
    ['$ref alone', { op: 'add', path: 'members', value: [{ $ref: 'https://h/scim/v2/Users/9' }] }, [{ kind: 'add', values: ['9'] }]],
    ['capitalised key', { op: 'add', path: 'Members', value: [{ Value: '9' }] }, [{ kind: 'add', values: ['9'] }]],
    ['pathless members', { op: 'add', value: { members: [{ value: '9' }] } }, [{ kind: 'add', values: ['9'] }]],
    ['with the core URN', { op: 'add', path: `${GROUP}:members`, value: [{ value: '9' }] }, [{ kind: 'add', values: ['9'] }]],
    ['remove with neither value nor filter removes all members', { op: 'remove', path: 'members' }, [{ kind: 'replace', values: [] }]],
    ['remove with an empty list removes no member', { op: 'remove', path: 'members', value: [] }, []],
    ['add of an empty list', { op: 'add', path: 'members', value: [] }, []],
    ['dots, colons and brackets in the id (scim-patch throws)', { op: 'remove', path: 'members[value eq "a.b:c]@x.com"]' }, [{ kind: 'remove', values: ['a.b:c]@x.com'] }]],
    ['several by or', { op: 'remove', path: 'members[value eq "1" or value eq "2"]' }, [{ kind: 'remove', values: ['1', '2'] }]],
    ['remove of the value of a member', { op: 'remove', path: 'members[value eq "9"].value' }, [{ kind: 'remove', values: ['9'] }]],
    ['remove of the display of a member keeps the member', { op: 'remove', path: 'members[value eq "9"].display' }, []],
    ['a display alone changes nothing', { op: 'replace', path: 'members[value eq "9"].display', value: 'x' }, []],
    ['replace of the value of a member by itself', { op: 'replace', path: 'members[value eq "9"].value', value: '9' }, [{ kind: 'add', values: ['9'] }]],
    ['add by filter', { op: 'add', path: 'members[value eq "9"]', value: { type: 'User' } }, [{ kind: 'add', values: ['9'] }]],
  ]; // prettier-ignore
  test.each(situations)('a PATCH of members, %s: %j gives the steps %j', (_name, operation, expected) => {
    expect(steps(operation)).toEqual(expected);
  });

  test('PATCH remove with a filter on type and display gives one step, whose filter is evaluated on each member', () => {
    const [step] = steps({ op: 'remove', path: 'members[type eq "Group" and display co "x"]' });
    expect(step?.kind).toBe('removeWhere');
    if (step?.kind !== 'removeWhere') return;
    expect(evaluateFilter(step.filter, { value: '1', type: 'Group', display: 'axb' })).toBe(true);
    expect(evaluateFilter(step.filter, { value: '1', type: 'User', display: 'axb' })).toBe(false);
  });

  test("in Okta's group push the id is ignored, and add and remove in one request are applied in order", () => {
    const { rest, steps: found } = split(
      { op: 'replace', value: { id: 'g1', displayName: 'Finance' } },
      { op: 'add', path: 'members', value: [{ value: '9', display: 'jo@x.example' }] },
      { op: 'remove', path: 'members[value eq "8"]' },
    );
    expect(found).toEqual([
      { kind: 'add', values: ['9'] },
      { kind: 'remove', values: ['8'] },
    ]);
    const group: Resource = { schemas: [GROUP], id: 'g1', displayName: 'Old' };
    expect(applyPatch(groupType, group, rest, auto)).toEqual({ ...group, displayName: 'Finance' });
  });

  test("authentik's PATCH replace without a path replaces attributes and members of the group", () => {
    const value = {
      schemas: [GROUP],
      id: '1',
      externalId: 'e',
      displayName: 'Finance',
      members: [{ value: '9' }],
    };
    const { rest, steps: found } = split({ op: 'replace', value });
    expect(found).toEqual([{ kind: 'replace', values: ['9'] }]);
    expect(applyPatch(groupType, { schemas: [GROUP], displayName: 'Old' }, rest, auto)).toEqual({
      schemas: [GROUP],
      externalId: 'e',
      displayName: 'Finance',
    });
  });

  const bad: [string, object][] = [
    ['a member without value', { op: 'add', path: 'members', value: [{ display: 'x' }] }],
    ['a member with empty value', { op: 'add', path: 'members', value: [{ value: '' }] }],
    ['a member that is null', { op: 'add', path: 'members', value: [null] }],
  ];
  test.each(bad)('PATCH add of %s answers 400 invalidValue', (_name, operation) => {
    expect(refusal(() => steps(operation))).toBe('400 invalidValue');
  });

  test('the profile rfc refuses a member given as text, and a remove of members by value instead of filter', () => {
    const parse = (operation: object) => refusal(() => parsePatch(groupType, patchOp(operation), rfc));
    expect(parse({ op: 'add', path: 'members', value: ['9'] })).toBe('400 invalidValue');
    expect(parse({ op: 'remove', path: 'members', value: [{ value: '9' }] })).toBe('400 invalidValue');
    expect(parse({ op: 'remove', path: 'members[value eq "9"]' })).toBe('accepted');
    expect(parse({ op: 'remove', path: 'members' })).toBe('accepted');
  });

  test('a member with $ref but no value counts as the deviation reference-for-value, and a member that has a value does not', () => {
    const counted = (value: object) => {
      const names: string[] = [];
      const profile = profileOf('auto', (name) => names.push(name));
      parsePatch(groupType, patchOp({ op: 'add', path: 'members', value: [value] }), profile);
      membersOf({ members: [value] }, profile);
      return names;
    };
    const $ref = 'https://h/scim/v2/Users/9';
    expect(counted({ $ref })).toEqual(['reference-for-value', 'reference-for-value']);
    expect(counted({ $ref, value: '9' })).toEqual([]);
    expect(counted({ $ref: null, value: '9' })).toEqual([]);
  });
});

describe('displayName of a group', () => {
  test('PATCH remove of the displayName of a group answers 400 mutability', () => {
    const operations = parsePatch(groupType, patchOp({ op: 'remove', path: 'displayName' }), auto);
    const group: Resource = { schemas: [GROUP], displayName: 'Old' };
    expect(refusal(() => applyPatch(groupType, group, operations, auto))).toBe('400 mutability');
  });
});

describe('membersOf a POST or PUT body', () => {
  const bodies: [string, unknown, string[] | undefined][] = [
    ['absent key', { displayName: 'x' }, undefined],
    ['empty list', { members: [] }, []],
    ['null', { members: null }, []],
    [
      'objects, once each',
      { members: [{ value: '1' }, { value: '2', display: 'b' }, { value: '1' }] },
      ['1', '2'],
    ],
    ['bare text', { Members: ['1'] }, ['1']],
    ['no object', 'x', undefined],
  ];
  test.each(bodies)(
    'the members of a POST or PUT body are read, %s: %j gives %j',
    (_name, body, expected) => {
      expect(membersOf(body)).toEqual(expected);
    },
  );

  test('a member without a usable value in a POST or PUT body answers 400 invalidValue', () => {
    expect(refusal(() => membersOf({ members: [{ value: {} }] }))).toBe('400 invalidValue');
    expect(refusal(() => membersOf({ members: [true] }))).toBe('400 invalidValue');
  });
});
