// Tests how long the results of operations stay in Redis: they contain personal data.
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { createOperationStore, type Operation } from '../../../src/directory/logs/operations.ts';

const redis = new Redis(process.env.TEST_REDIS_URL ?? '');
const prefix = `t${randomUUID()}`;
const store = createOperationStore({ redis }, { prefix });
afterAll(() => redis.disconnect());

/** @param startedAt Unix milliseconds */
const operation = (startedAt: number): Operation => ({
  id: `op-${startedAt}`,
  kind: 'plan',
  target: null,
  by: 'ops',
  state: 'running',
  startedAt,
  updatedAt: startedAt,
  endedAt: null,
  progress: [],
  outcome: null,
  message: null,
});
const withResult = async (startedAt: number, result: Iterable<Buffer>): Promise<string> => {
  const ended = operation(startedAt);
  await store.putResult(ended.id, result);
  await store.put(ended);
  return ended.id;
};

test('the stored result of an operation is removed once 50 newer operations exist, and a result that is stored later is not kept', async () => {
  const early = await withResult(1, [Buffer.from('early')]);
  for (let newer = 10; newer < 59; newer++) await store.put(operation(newer));
  expect(await store.resultBytes(early)).toBe(5);
  await store.put(operation(59));
  expect(await store.resultBytes(early)).toBe(0);
  const late = await withResult(2, [Buffer.from('late')]);
  expect(await store.resultBytes(late)).toBe(0);
  expect((await store.all()).map(({ id }) => id)).not.toContain(late);
});

test('when the result of an operation is deleted while its pieces are being stored, no piece of it stays in Redis', async () => {
  const { id } = operation(100);
  await store.put(operation(100));
  await store.putResult(id, [Buffer.from('found')]);
  const [key = ''] = (await redis.keys(`${prefix}*${id}`)).filter((name) => name.includes('Result'));
  expect(await redis.ttl(key)).toBeGreaterThan(3500);
  function* pieces(): Generator<Buffer> {
    yield Buffer.from('one');
    // Sent before the second piece.
    void redis.del(key);
    yield Buffer.from('two');
    yield Buffer.from('three');
  }
  await expect(store.putResult(id, pieces())).rejects.toThrow('a person was forgotten');
  expect(await redis.exists(key)).toBe(0);
});
