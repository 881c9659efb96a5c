// Tests the advice of listed exceptions.
import type { DesiredState } from '../../../src/directory/desired-state.ts';
import { listExceptions } from '../../../src/ops/approvals/exceptions.ts';

test.each([
  [
    'owner of the platform key: a bridge could lock itself out',
    /else give the target a platform key of another account/,
  ],
  ['listed in users.protected', /else take the name out of targets\.main\.users\.protected and restart/],
])('the exceptions list advises how to end a protection: %s', async (message, advice) => {
  const found = { ref: 'User:1', reason: 'Protected', since: 0, name: 'boss@acme.example', message };
  const outbox = { exceptions: () => Promise.resolve([found]) };
  const state = { connection: 'default', outboxes: new Map([['main', outbox]]) } as unknown as DesiredState;
  const [view] = await listExceptions([state], { limit: 10 });
  expect(view?.advice).toMatch(advice);
});

describe('a person with a held change', () => {
  const ref = 'User:1';
  const MESSAGE = 'the guard holds a change of it';
  /** Lists the exception. @param expired number of expired changes of the target @param condition of the person's link */
  const listed = async (expired: number, condition: object, resourceStatus: () => Promise<object>) => {
    const found = { ref, reason: 'Held', since: 0, name: 'ann@acme.example', message: MESSAGE };
    const outbox = {
      target: 'main',
      settings: 'new',
      deletesLeavers: true,
      exceptions: () => Promise.resolve([found]),
      resourceStatus,
      guardStore: {
        open: () => Promise.resolve({ id: 'main.7-9', leftMs: 1000 }),
        decisions: () => Promise.resolve([]),
        countHeld: () => Promise.resolve({ expired }),
        decisionsOfMembers: () => Promise.resolve([]),
        onHold: () => Promise.resolve(undefined),
      },
    };
    const links = { get: () => Promise.resolve({ condition }) };
    const state = { connection: 'default', links, outboxes: new Map([['main', outbox]]) };
    const [view] = await listExceptions([state as unknown as DesiredState], { limit: 10 });
    return view;
  };
  const held = { reason: 'Held', message: 'the guard holds the deactivation', since: 0, isLeaver: true };
  const expiredChange = () =>
    Promise.resolve({
      mark: null,
      blockedSince: null,
      pendingMemberships: new Map(),
      guard: [{ kind: 'deactivate', subject: null, state: 'expired' }],
    });

  test("an exception about a held change is listed without reading the person's status if no change of the target has expired", async () => {
    const view = await listed(0, held, () => Promise.reject(new Error('the status is read')));
    expect(view).toMatchObject({
      message: MESSAGE,
      advice: 'See scim-bridge approvals show default.main.7-9, then approve or reject.',
    });
  });

  test('an exception about a held change keeps its notes about changed settings and a deletion when the approval has expired', async () => {
    const view = await listed(1, { ...held, settings: 'old' }, expiredChange);
    expect(view?.message).toMatch(
      /^the approval of the deactivation has expired \(the settings have changed /,
    );
    expect(view?.message).toMatch(/; the account is deleted afterwards, if guard\.delete allows it$/);
  });

  test('an exception about a held change keeps its message when the approval has expired and the last sync failed for another change', async () => {
    const failed = { reason: 'NotApplied', message: 'the platform ignored the change of the name', since: 0 };
    const view = await listed(1, failed, expiredChange);
    expect(view).toMatchObject({ message: MESSAGE, advice: expect.stringMatching(/^The approval expired /) });
  });
});
