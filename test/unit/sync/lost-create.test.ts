// Tests which accounts count as made by a create whose answer was lost.
import type { TriedCreate } from '../../../src/directory/outbox/link.ts';
import type { WireUser } from '../../../src/platform/wire.ts';
import { isMadeAccount } from '../../../src/sync/names/lost-create.ts';

const SINCE = Date.parse('2026-10-01T12:00:00Z');
const SENT = { userName: 'Ada', externalId: null, displayName: 'Ada L', emails: null, active: false };
const tried: TriedCreate = { core: SENT, since: SINCE, until: SINCE + 15_000 };
const account = (rest: Partial<WireUser> = {}, madeMs = 1000): WireUser => ({
  id: '7',
  userName: 'ada',
  displayName: 'Ada L',
  active: false,
  meta: { created: new Date(SINCE + madeMs).toISOString() },
  ...rest,
});
const isMade = (user: WireUser, lost = tried, isUnique = false) =>
  isMadeAccount({ directory: { identifies: () => Promise.resolve(isUnique) }, link: { tried: lost } }, user);
const withExternalId = { ...tried, core: { ...SENT, externalId: 'E-1' } };

describe('after a create without answer', () => {
  it.each([-4000, 0, 19_000])(
    'an account with the sent values that was made %i ms after the create was sent counts as made by this create',
    async (ms) => {
      expect(await isMade(account({}, ms))).toBe(true);
    },
  );

  it.each([-6000, 21_000, 3_600_000])(
    'an account that was made %i ms after the create was sent does not count as made by it',
    async (ms) => {
      expect(await isMade(account({}, ms))).toBe(false);
    },
  );

  it('an account without a time of creation does not count as made by the create', async () => {
    expect(await isMade(account({ meta: {} }))).toBe(false);
  });

  it.each([{ active: true }, { displayName: 'Ada K' }, { userName: 'ada2' }, { externalId: 'E-2' }])(
    'an account with %j, other than the sent values, does not count as made by the create',
    async (other) => {
      expect(await isMade(account(other))).toBe(false);
    },
  );

  it('an account with the sent externalId counts as made by the create at any time if no two users share the externalId', async () => {
    const user = account({ externalId: 'E-1', displayName: 'Ada K' }, 3_600_000);
    expect(await isMade(user, withExternalId, true)).toBe(true);
    expect(await isMade(user, withExternalId, false)).toBe(false);
  });

  it('an account without the sent externalId does not count as made by the create', async () => {
    expect(await isMade(account(), withExternalId, true)).toBe(false);
  });

  it('no account counts as made by a create if every create was answered', async () => {
    expect(
      await isMadeAccount({ directory: { identifies: () => Promise.resolve(true) }, link: {} }, account()),
    ).toBe(false);
  });
});
