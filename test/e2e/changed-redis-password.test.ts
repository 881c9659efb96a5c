// Tests what a running process and the commands tell after the password of Redis was changed.
import { connectRedis } from '../../src/directory/redis/connection.ts';
import { createLogger } from '../../src/support/logger.ts';
import { eventually } from '../support/eventually.ts';
import { askHealth } from '../support/health.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
let address: string;
beforeAll(async () => {
  place = await openPlace({ ownRedis: true });
  address = new URL(place.settings.redis.url).host;
}, 30_000);
afterAll(() => place.stop());

test('the password of Redis changes under a running process → /health, doctor and the log name address and reason, and do not report a replica', async () => {
  const lines: any[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const other = connectRedis({ url: place.settings.redis.url }, 'queue', logger);
  await eventually('connected', () => other.status === 'ready');
  await place.redis.config('SET', 'requirepass', 'changed');
  await place.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  const reason = `Redis does not answer at ${address}: user or password are refused`;
  await eventually('the process tells it', async () => {
    const { store } = (await askHealth({ app: { port: place.port } }, '/health')).body.components;
    return store.findings.some((finding: string) => finding.startsWith(reason));
  });
  await eventually('the log tells it', () => lines.some((line) => line.reason === reason));
  expect(JSON.stringify(lines)).not.toMatch(/NOAUTH|WRONGPASS|Authentication required/);
  const doctor = await place.commands.run('doctor');
  expect(doctor.text).toContain(`✘ redis: ${reason}. Check that it runs, and redis.url or REDIS_URL.`);
  expect(doctor.text).toContain(
    '✘ fleet: not checked: there is no connection to Redis. See the finding about redis',
  );
  expect(doctor.text).not.toContain('replica');
  await place.redis.config('SET', 'requirepass', '');
  other.disconnect();
}, 60_000);
