// Tests after which refused syncs the dead letters that wait for a name are tried again.
import type { SyncContext } from '../../../src/sync/context.ts';
import { storeOutcome } from '../../../src/sync/sync-resource.ts';

/** Stores a refused sync that has made three writes. @returns whether resources that wait for its name are tried again */
async function isNameFree({ hasWrittenName, closed = false }: { hasWrittenName?: true; closed?: boolean }) {
  let mayBeFree: boolean | undefined;
  const context = {
    ...(hasWrittenName && { hasWrittenName }),
    gate: { closed, refused: [], faults: [] },
    link: {},
    logger: { error: () => undefined },
    outbox: {
      ack: (...args: [unknown, unknown, unknown, { mayBeFree?: boolean }]) => {
        ({ mayBeFree } = args[3]);
        return Promise.resolve({ kind: 'cleared', lagMs: 0 });
      },
    },
    provisioning: { ended: () => undefined, append: () => undefined },
    work: { ref: 'User:1', hasGuardItem: false },
    writes: 3,
  };
  const condition = { reason: 'Conflict', message: 'taken', since: 0 };
  await storeOutcome(context as unknown as SyncContext, { kind: 'blocked', condition }, undefined);
  return mayBeFree;
}

test('a refused sync wrote other values than the name → resources that wait for the name are not tried again', async () => {
  expect(await isNameFree({})).toBe(false);
});

test('a refused sync wrote the name or closed the account → resources that wait for the name are tried again', async () => {
  expect(await isNameFree({ hasWrittenName: true })).toBe(true);
  expect(await isNameFree({ closed: true })).toBe(true);
});
