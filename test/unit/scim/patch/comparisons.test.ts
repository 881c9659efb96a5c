// Tests which operations count towards the comparisons of one request.
import { applyPatch, Comparisons, type Resource } from '../../../../src/scim/index.ts';
import { atOnce, ATTRIBUTES, auto, parsePatch, patchOp, refusal, user, userType } from '../sample.ts';

const MOST = 1_000_000;

test('an operation above the limit is refused and does not count: a smaller one that follows is accepted', () => {
  const comparisons = new Comparisons();
  comparisons.count(MOST - 10);
  expect(refusal(() => comparisons.count(11))).toBe('400 tooMany');
  comparisons.count(10);
  expect(refusal(() => comparisons.count(1))).toBe('400 tooMany');
});

test('a savepoint takes back what was counted since, each time that it is called', () => {
  const comparisons = new Comparisons();
  comparisons.count(400_000);
  const recount = comparisons.savepoint();
  for (let attempt = 0; attempt < 5; attempt++) {
    recount();
    comparisons.count(600_000);
  }
  expect(refusal(() => comparisons.count(1))).toBe('400 tooMany');
});

describe('a request that may compare no more values', () => {
  const before = user({ emails: [{ value: 'a@x' }], [ATTRIBUTES]: { free: ['a'] } });
  const patched = (operation: object): Resource => {
    const comparisons = new Comparisons();
    comparisons.count(MOST);
    const operations = parsePatch(userType, patchOp(operation), auto);
    return atOnce(applyPatch(userType, before, operations, auto, comparisons));
  };
  const free = `${ATTRIBUTES}:free`;

  test.each([
    [{ op: 'replace', path: 'emails', value: [{ value: 'b@x' }] }],
    [{ op: 'remove', path: 'emails' }],
    [{ op: 'replace', path: free, value: ['b'] }],
    [{ op: 'remove', path: free }],
  ])('may still replace or remove a whole list: %j', (operation) => {
    expect(patched(operation)).not.toEqual(before);
  });

  test.each([
    [{ op: 'add', path: 'emails', value: [{ value: 'b@x' }] }],
    [{ op: 'remove', path: 'emails', value: [{ value: 'b@x' }] }],
    [{ op: 'replace', path: 'emails[value eq "b@x"].value', value: 'c@x' }],
    [{ op: 'replace', path: 'emails.value', value: 'c@x' }],
    [{ op: 'add', path: free, value: ['b'] }],
    [{ op: 'remove', path: free, value: ['b'] }],
  ])('is refused when it compares the values of a list: %j', (operation) => {
    expect(refusal(() => patched(operation))).toBe('400 tooMany');
  });
});
