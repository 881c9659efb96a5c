// Tests a hold that is ordered while writes wait for the end of a pause of all calls: none of them is sent before the release.
import '../support/load-modules.ts';
import { Redis } from 'ioredis';
import { ADMIN_TOKEN, buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';

const NAMES = ['ann@acme.example', 'bob@acme.example', 'cid@acme.example'];

let bridge: Bridge;
const redis = new Redis(process.env.TEST_REDIS_URL ?? '');
beforeAll(async () => {
  bridge = await buildBridge();
}, 30_000);
afterAll(async () => {
  redis.disconnect();
  await bridge.stop();
});

async function order(name: 'hold' | 'release'): Promise<void> {
  const { status } = await fetch(`http://127.0.0.1:${bridge.app.port}/admin/v1/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: '{}',
  });
  expect(status).toBe(200);
}
const logged = (text: string): number => bridge.logs.filter((line) => line.includes(text)).length;
const names = () => Promise.all(NAMES.map(async (name) => (await bridge.platform.user(name))?.displayName));

test('writes wait for the end of a pause, and the target is put on hold → the pause ends and nothing is written before the release', async () => {
  const { idp, platform } = bridge;
  const ids = await Promise.all(NAMES.map((name) => idp.createUser(name, { displayName: 'before' })));
  await bridge.idle();
  const status429 = { share: 1, retryAfter: 4 };
  await platform.control('PATCH', '/faults', { rules: [{ method: 'PATCH', times: 1, status429 }] });
  const [first, ...others] = ids;
  const rename = (id: string | undefined) =>
    idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'after' });
  await rename(first);
  await eventually('all calls pause', () => logged('platform failed, trying again') > 0);
  await platform.forgetRequests();
  await Promise.all(others.map(rename));
  await eventually('the other changes wait for their turn', async () => {
    const found = await redis.keys(`${bridge.config.redis.prefix}:*:lease:*`);
    return found.length === others.length;
  });
  await order('hold');
  await eventually('the waiting syncs have ended', async () => {
    const isWritten = (await platform.writes()).length > 0;
    return isWritten || logged('because it lost its lease') === others.length;
  });
  expect(await platform.writes()).toEqual([]);
  await order('release');
  await bridge.idle();
  expect(await names()).toEqual(['after', 'after', 'after']);
}, 60_000);
