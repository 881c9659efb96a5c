// Who counts as an administrator that is left.
import { anotherRemains, type Account } from '../../../src/guard/administrators.ts';

const account = (userName: string, isAdministrator = true, isActive = true): Account => ({
  userName,
  isAdministrator,
  isActive,
});
const nobody: ReadonlySet<string> = new Set();

test.each<[string, Account[], string[], boolean]>([
  ['nobody else is there', [account('ada')], [], false],
  ['another one stays', [account('ada'), account('bob')], [], true],
  ['the other one is no administrator', [account('ada'), account('bob', false)], [], false],
  ['the other one is closed', [account('ada'), account('bob', true, false)], [], false],
  ['the other one leaves as well', [account('ada'), account('bob')], ['bob'], false],
  ['a third one stays', [account('ada'), account('bob'), account('cho')], ['bob'], true],
  ['nothing is known', [], [], false],
])('%s', (_situation, accounts, leaving, remains) => {
  expect(anotherRemains(accounts, 'ada', new Set(leaving))).toBe(remains);
});

test('who is closed does not count, whether or not it is said to leave', () => {
  const both = [account('ada'), account('bob')];
  expect(anotherRemains(both, 'ada', nobody)).toBe(true);
  expect(anotherRemains(both, 'ada', new Set(['ada']))).toBe(true);
});
