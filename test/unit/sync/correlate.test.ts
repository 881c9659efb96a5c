// Tests which existing account a user adopts.
import type { WireUser } from '../../../src/platform/wire.ts';
import { correlate, type Candidate } from '../../../src/sync/user/correlate.ts';

const wanted = { userName: 'ada', externalId: 'E-1' };
const account = (rest: Partial<WireUser> = {}): WireUser => ({ id: '7', userName: 'ada', ...rest });
const candidate = (rest: Partial<Candidate> = {}, user: Partial<WireUser> = {}): Candidate => ({
  user: account(user),
  ours: false,
  ...rest,
});
const conflict = (message: RegExp) => ({ kind: 'conflict', message: expect.stringMatching(message) });

describe('which account a user has', () => {
  it('no account at the platform matches → correlation returns `absent` for every value of adopt', () => {
    for (const adopt of ['exact', 'report', 'never'] as const) {
      expect(correlate(wanted, [], adopt)).toEqual({ kind: 'absent' });
    }
  });

  it('two matching accounts are a conflict, even if one was created by the bridge', () => {
    const both = [candidate({ ours: true }), candidate({}, { id: '8' })];
    expect(correlate(wanted, both, 'exact')).toMatchObject(conflict(/^2 accounts match, ada, ada: merge/));
  });

  it('more than three accounts match → the conflict names three of them, and how many more there are', () => {
    const several = ['ada', 'ada2', 'ada3', 'ada4', 'ada5'].map((userName, id) =>
      candidate({}, { id: String(id), userName }),
    );
    expect(correlate(wanted, several, 'exact')).toMatchObject(
      conflict(/^5 accounts match, ada, ada2, ada3 and 2 more: merge or delete all but one$/),
    );
  });

  it('an account that is linked to another existing resource is not adopted', () => {
    const held = candidate({ ours: true, heldBy: 'User:other' });
    expect(correlate(wanted, [held], 'exact')).toMatchObject(conflict(/already linked to User:other/));
  });

  it.each(['exact', 'report', 'never'] as const)(
    'an account that the bridge created is adopted under adopt: %s, even with another externalId',
    (adopt) => {
      const ours = candidate({ ours: true }, { externalId: 'E-2' });
      expect(correlate(wanted, [ours], adopt)).toMatchObject({
        kind: 'adopt',
        ours: true,
        user: { id: '7' },
      });
    },
  );

  it('an account that matches exactly is adopted under adopt: exact', () => {
    expect(correlate(wanted, [candidate()], 'exact')).toMatchObject({ kind: 'adopt', ours: false });
  });

  it.each(['report', 'never'] as const)(
    'an account that matches exactly is a conflict under adopt: %s',
    (adopt) => {
      expect(correlate(wanted, [candidate()], adopt)).toMatchObject(
        conflict(new RegExp(`adopt is ${adopt}`)),
      );
    },
  );

  it("an account with the user's userName but another externalId is not adopted", () => {
    const other = candidate({}, { externalId: 'E-2' });
    expect(correlate(wanted, [other], 'exact')).toMatchObject(conflict(/another externalId/));
  });

  it.each([
    ['the account has no externalId', wanted, undefined],
    ['the user has no externalId', { userName: 'ada', externalId: null }, 'E-2'],
    ['both have the same externalId', wanted, 'E-1'],
  ])(
    "under adopt: exact, an account with the user's userName is adopted if %s",
    (_what, user, externalId) => {
      const found = candidate({}, externalId === undefined ? {} : { externalId });
      expect(correlate(user, [found], 'exact')).toMatchObject({ kind: 'adopt' });
    },
  );
});
