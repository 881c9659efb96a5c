// Tests by what the account of the platform key is recognised.
import { ownsKey } from '../../../src/sync/calls/key-account.ts';

const OWNER = { userName: 'ann@acme.example', id: 'u-1' };
const { userName } = OWNER;

test('the id decides whether an account is that of the key, whatever the names are', () => {
  expect(ownsKey({ id: 'u-1', core: { userName: 'old@acme.example' } }, 'new@acme.example', OWNER)).toBe(
    true,
  );
  // Another account got the former name of the owner.
  expect(ownsKey({ id: 'u-2', core: { userName } }, userName, OWNER)).toBe(false);
});

test.each([
  ['no link → the name that is looked up decides', {}, 'Ann@acme.example', OWNER, true],
  [
    'no link, and the last name was that of the owner → the account is another one',
    { core: { userName } },
    'x',
    OWNER,
    false,
  ],
  [
    'the id of the owner is not known → the name at the platform decides',
    { id: 'u-1', core: { userName } },
    'x',
    { userName },
    true,
  ],
  [
    'the id of the owner is not known → the name that the account is to have decides',
    { id: 'u-1' },
    userName,
    { userName },
    true,
  ],
  ['the key has no owner → no account is that of the key', { id: 'u-1' }, userName, undefined, false],
])('%s', (_case, link, wanted, owner, expected) => {
  expect(ownsKey(link, wanted, owner)).toBe(expected);
});
