// Tests what status and doctor tell of security events that a receiver refused, or that were dropped before delivery.
import { generateKeyPairSync } from 'node:crypto';
import '../support/load-modules.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const POLL_TOKEN = 'token-of-the-receiver-0123456789';
/** The least that the settings allow. */
const MOST_PENDING = 100;
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const events = {
  issuer: 'https://scim.example.com',
  audience: 'https://siem.example.com',
  key,
  mostPending: MOST_PENDING,
  poll: { token: POLL_TOKEN },
};

let place: Place;
beforeAll(async () => {
  const tokens = [{ name: 'primary', secret: TOKEN }];
  place = await openPlace({ rest: { connections: { default: { tokens, events } } } });
}, 30_000);
afterAll(() => place.stop());

const { outcome, told } = commandsAt(() => place);

async function poll(body: object): Promise<string[]> {
  const answer = await fetch(`http://127.0.0.1:${place.port}/connections/default/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${POLL_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ returnImmediately: true, ...body }),
  });
  return Object.keys(((await answer.json()) as { sets: object }).sets);
}

test('no security event was refused or dropped → doctor has no line about security events', async () => {
  await place.idp.createUser('ann@acme.example');
  await place.idle();
  expect(await told('doctor')).not.toContain('events default');
});

test('a receiver refuses a security event → doctor warns and names the commands, and keeps its exit code', async () => {
  const [before] = await outcome('doctor');
  const [jti = ''] = await poll({});
  await poll({ setErrs: { [jti]: { err: 'jwtAud', description: 'not for us' } } });
  const [code, text] = await outcome('doctor');
  expect(code).toBe(before);
  expect(text).toContain(
    '! events default: the receiver refused 1 event. scim-bridge events refused says why.',
  );
  await told('events', 'drop');
  expect(await told('doctor')).not.toContain('events default');
});

test('more security events arise than mostPending → status and doctor say how many were dropped, when, and that the receiver has to read everything anew', async () => {
  await Promise.all(
    Array.from({ length: MOST_PENDING + 3 }, (_each, index) =>
      place.idp.createUser(`p${index}@acme.example`),
    ),
  );
  const lost = /3 events were dropped before delivery, the last at 20\S+Z/;
  const advice = 'he receiver has to read all users and groups anew (GET /Users, GET /Groups)';
  for (const command of ['status', 'doctor']) {
    const text = await told(command);
    expect(text).toMatch(lost);
    expect(text).toContain(advice);
  }
  const { json } = await place.commands.run('status', '--json');
  expect(json[0].events).toMatchObject({ dropped: 3, droppedAt: expect.any(Number) });
}, 60_000);

test('the last security events were dropped more than a week ago → doctor no longer warns, and status still reports it', async () => {
  const counts = await place.key(':eventCounts');
  await place.redis.hset(counts, 'droppedAt', Date.now() - 8 * 86_400_000);
  expect(await told('doctor')).not.toContain('events default');
  expect(await told('status')).toContain('3 events were dropped before delivery');
});
