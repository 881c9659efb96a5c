// Tests which account of the user list counts as that of a renamed SCIM account.
import type { Link } from '../../../src/directory/outbox/link.ts';
import type { SyncContext } from '../../../src/sync/context.ts';
import { resolveAccount } from '../../../src/sync/user/console-account.ts';

const NOW = 1_000_000_000;
const USER = { id: 'scim-1', userName: 'bob@acme.example', externalId: 'E-1' };

/** Resolves the number of an account that was renamed `agoMs` ago, when the user list shows number 7 under the new userName. */
function resolveRenamed(agoMs: number, known: Partial<Link> = {}, externalId: string | null = null) {
  const link: Partial<Link> = { id: USER.id, renamedAt: NOW - agoMs, ...known };
  const listed = { id: '7', username: USER.userName, email: '', externalId, isAdmin: false };
  const client = {
    users: { get: () => Promise.resolve(USER) },
    accounts: { search: () => Promise.resolve([listed]) },
  };
  return resolveAccount({
    link,
    target: { client, lacks: {}, administrators: { see: () => undefined } },
    clock: { now: () => NOW },
    call: {},
    save: () => Promise.resolve(),
  } as unknown as SyncContext);
}

describe('a userName was written a short time ago and the user list shows one account with it', () => {
  it('the listed account has no externalId and may be that of the former holder → the search goes on', async () => {
    expect(await resolveRenamed(30_000)).toMatchObject({ kind: 'later' });
    expect(await resolveRenamed(30_000, { account: '6' })).toMatchObject({ kind: 'later' });
  });

  it('the listed account has the account id of the link, or the externalId of the user → it is found at once', async () => {
    expect(await resolveRenamed(0, { account: '7' })).toEqual({ kind: 'found', id: '7' });
    expect(await resolveRenamed(0, {}, USER.externalId)).toEqual({ kind: 'found', id: '7' });
  });

  it('the userName was written more than a minute ago → the listed account is found', async () => {
    expect(await resolveRenamed(60_000)).toEqual({ kind: 'found', id: '7' });
  });
});
