// Tests how a reconcile run waits for the resources that it marked.
import { startLocalRedis } from '../../../src/demo/local-redis.ts';
import { untilApplied } from '../../../src/reconcile/apply/until-applied.ts';
import type { ReconcileScope } from '../../../src/reconcile/scope.ts';
import type { Ref } from '../../../src/directory/records.ts';
import { silentLogger } from '../../../src/support/logger.ts';
import { systemClock } from '../../../src/support/sources.ts';
import { watchCommands } from '../../support/watch-commands.ts';
import { idOf, openStore, type Store } from '../lua/rig.ts';

const MANY = 2500;

let redis: Awaited<ReturnType<typeof startLocalRedis>>;
let store: Store;
// A Redis of its own, because MONITOR shows the commands of all clients.
beforeAll(async () => {
  redis = await startLocalRedis({ env: {} });
  store = await openStore({ url: redis.url });
});
afterAll(async () => {
  await store.close();
  await redis.stop();
});

test('a reconcile run that marked 2,500 resources ends when the last one is applied, and reads at most 1,000 marks at once', async () => {
  const refs = Array.from({ length: MANY }, (_, index): Ref => `User:${idOf(`u${index}-`)}`);
  await store.outbox.mark(refs, 'reconcile');
  const drifts = store.state.drifts.get('main');
  const { outbox } = store;
  const { links } = store.state;
  const scope = {
    drifts,
    links,
    outbox,
    target: { name: 'main' },
    clock: systemClock,
  } as unknown as ReconcileScope;
  const marks = store.keys.key('marks', 'main');
  const sizes: number[] = [];
  const unwatch = await watchCommands(store.redis, ([command = '', key, ...fields]) => {
    if (key === marks && command.toLowerCase() === 'hmget') sizes.push(fields.length);
  });
  const progress: number[] = [];
  const onProgress = ({ done }: { done: number }): void => void progress.push(done);
  try {
    const isEnded = { yet: false };
    const options = { signal: new AbortController().signal, onProgress, logger: silentLogger };
    const end = untilApplied(scope, options, refs).finally(() => (isEnded.yet = true));
    // The last resource of the list is applied first, and one in its middle last.
    const last = refs[1200] ?? '';
    await store.redis.hdel(marks, ...refs.filter((ref) => ref !== last).reverse());
    await systemClock.sleep(1500);
    expect(isEnded.yet).toBe(false);
    await store.redis.hdel(marks, last);
    await expect(end).resolves.toMatchObject({ outcome: 'converged' });
  } finally {
    unwatch();
  }
  expect(progress.at(-1)).toBe(MANY);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1000);
});
