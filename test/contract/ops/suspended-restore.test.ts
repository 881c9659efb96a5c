// Tests that a restore whose process was suspended for longer than its lease changes nothing any more, at whatever step: another
// restore may have begun meanwhile, and its data and its note are in Redis.
import { appendFile, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDataVersion, createRestoreWithdrawal } from '../../../src/directory/fleet/data-version.ts';
import { createKnownTargets } from '../../../src/directory/fleet/known-targets.ts';
import type { DesiredState } from '../../../src/directory/desired-state.ts';
import { backup } from '../../../src/ops/backup/backup.ts';
import { checkBackup } from '../../../src/ops/backup/backup-file.ts';
import { restore } from '../../../src/ops/backup/restore.ts';
import { add, idOf, openStore, type Store } from '../lua/rig.ts';

const ADA = idOf('ada');
const CAT = idOf('cat');
const LEASE_MS = 15_000;

let store: Store;
let folder: string;
let path: string;
beforeEach(async () => {
  store = await openStore();
  folder = await mkdtemp(join(tmpdir(), 'suspended-'));
  path = join(folder, 'backup');
  for (const id of [ADA, CAT]) await store.putUser(id, { userName: id });
  await store.putGroup(idOf('group'), 'Sales', [add(ADA, CAT)]);
  await store.settleAll();
  const kept = [{ connection: 'idp', target: 'removed' }];
  const createdAt = Date.now() - 1;
  await backup([store.state], (text) => appendFile(path, text), { createdAt, key: null, kept });
  // A person who was forgotten since the backup is deleted again by the restore.
  await store.remove('User', CAT);
  await store.state.acts.record({ act: 'forget', by: 'ann', via: 'command', subject: `User:${CAT}` });
});
afterEach(async () => {
  await rm(folder, { recursive: true });
  await store.close();
});

/** Returns the content of every key. */
async function world(): Promise<Record<string, string>> {
  const names = (await store.redis.keys(`${store.prefix}:*`)).sort();
  const texts = await Promise.all(names.map((name) => store.redis.dumpBuffer(name)));
  return Object.fromEntries(names.map((name, index) => [name, texts[index]?.toString('base64') ?? '']));
}

/**
 * Restores the backup. The process is suspended for longer than the lease after its step with this number; a step is the end of one
 * read or change in Redis.
 * @returns the world at the end of the suspension; undefined: the restore had fewer steps. `error`: of the restore
 */
async function restoreSuspendedAfter(
  step: number,
): Promise<{ seen: Record<string, string> | undefined; error: unknown }> {
  let now = Date.now();
  let steps = 0;
  let seen: Record<string, string> | undefined;
  const afterStep = async (): Promise<void> => {
    if (++steps !== step) return;
    seen = await world();
    now += LEASE_MS;
  };
  const stepwise = <T extends object>(part: T): T =>
    Object.fromEntries(
      Object.entries(part).map(([name, value]: [string, unknown]) => {
        if (typeof value !== 'function') return [name, value];
        const call = (...args: unknown[]): unknown => {
          const result: unknown = value(...args);
          return result instanceof Promise ? result.finally(afterStep) : result;
        };
        return [name, call];
      }),
    ) as T;
  const { state, redis, scripts, prefix } = store;
  const outboxes = [...state.outboxes].map(
    ([target, outbox]) => [target, { ...stepwise(outbox), guardStore: stepwise(outbox.guardStore) }] as const,
  );
  const suspended: DesiredState = {
    ...state,
    archive: stepwise(state.archive),
    acts: stepwise(state.acts),
    directory: stepwise(state.directory),
    outboxes: new Map(outboxes),
  };
  // A restore that fails may close the file.
  const file = await open(path);
  const error: unknown = await restore([suspended], file, await checkBackup(file, null), {
    replace: true,
    acceptUnproven: false,
    tokens: 'keep',
    leaveToReconcile: false,
    clock: { now: () => now, sleep: () => Promise.resolve() },
    actor: { by: 'ann', via: 'command' },
    restoreLease: { lead: () => Promise.resolve(true), resign: () => Promise.resolve() },
    knownTargets: createKnownTargets({ redis, scripts }, { prefix }),
    ...stepwise({ readFleet: () => Promise.resolve({ processes: [], findings: [] }) }),
    dataVersion: stepwise(createDataVersion({ redis }, { prefix })),
    withdrawRestore: createRestoreWithdrawal({ redis, scripts }, { prefix }),
  }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  await file.close();
  return { seen, error };
}

test('a restore that is suspended for longer than its lease after any of its steps changes nothing in Redis afterwards, but removes its own note if the stored data is whole', async () => {
  const note = `${store.prefix}:{bridge.fleet}:restoring`;
  const withoutNote = ({ [note]: _, ...rest }: Record<string, string>) => rest;
  let withdrawn = 0;
  for (let step = 1; ; step++) {
    const before = await world();
    const { seen, error } = await restoreSuspendedAfter(step);
    if (!seen) {
      expect([step > 20, error]).toEqual([true, undefined]);
      break;
    }
    const after = await world();
    expect([step, withoutNote(after)]).toEqual([step, withoutNote(seen)]);
    if (error && seen[note] !== after[note]) {
      withdrawn++;
      expect(after).not.toHaveProperty([note]);
      expect(Object.keys(before).filter((name) => !(name in after))).toEqual([]);
    }
    // Every step but the last is followed by a check.
    if (error)
      expect(error).toHaveProperty('message', expect.stringContaining('Another restore may have begun'));
    // A whole restore puts all back for the next step.
    expect((await restoreSuspendedAfter(0)).error).toBeUndefined();
  }
  expect(withdrawn).toBeGreaterThan(0);
}, 60_000);

test('another restore begins while a restore that has removed nothing is suspended → the note of the other one stays', async () => {
  const { redis, scripts, prefix } = store;
  const { beginRestore } = createDataVersion({ redis }, { prefix });
  const withdraw = createRestoreWithdrawal({ redis, scripts }, { prefix });
  const [suspended, other] = ['a', 'b'].map((owner) => ({ time: '2026-01-01T00:00:00.000Z', owner }));
  if (!suspended || !other) throw new Error('two restores');
  expect(await beginRestore(suspended)).toBe(true);
  expect(await beginRestore(other)).toBe(false);
  await withdraw(suspended);
  await expect(createDataVersion({ redis }, { prefix }).check()).rejects.toThrow(
    'A restore began at 2026-01-01T00:00:00.000Z and has not ended',
  );
  await withdraw(other);
  await createDataVersion({ redis }, { prefix }).check();
});

test('a restore that is suspended while it removes the stored data removes nothing afterwards', async () => {
  const names = Array.from({ length: 1000 }, (_, index) => store.keys.key('members', `g${index}`));
  for (const name of names) await store.redis.sadd(name, ADA);
  let removed = 0;
  const clearing = store.state.archive.clear({
    tokens: false,
    beforeChange: () => {
      if (removed++ === 2) throw new Error('no longer alone');
    },
  });
  await expect(clearing).rejects.toThrow('no longer alone');
  expect(await store.redis.exists(...names)).toBeGreaterThan(500);
}, 30_000);
