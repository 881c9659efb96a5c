// Tests that a command whose settings have another address or another key than the service does not stop the calls of the service.
import '../support/load-modules.ts';
import { createCommands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const BOB = 'bob@acme.example';

let place: Place;
let bob: string;
beforeAll(async () => {
  place = await openPlace({});
  bob = await place.idp.createUser(BOB);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

/** Runs plan by settings with this address or key, and returns its answer and whether status ever told a failure meanwhile. */
async function planBy(change: object) {
  const { main } = place.settings.targets;
  const others = createCommands({ ...place.settings, targets: { main: { ...main, ...change } } });
  try {
    const isOver = { yet: false };
    const planned = others.run('plan').finally(() => (isOver.yet = true));
    const told: unknown[] = [];
    while (!isOver.yet) {
      const [{ breaker }] = (await place.commands.run('status', '--json')).json;
      if (breaker.open || breaker.status !== undefined) told.push(breaker);
    }
    return { ...(await planned), told };
  } finally {
    others.remove();
  }
}

for (const [name, change, words] of [
  ['an address without a platform', { url: 'http://127.0.0.1:9' }, 'does not answer'],
  ['a refused key', { token: 'another-key-that-the-platform-refuses' }, 'refuses the key (401)'],
] as const)
  test(`plan with ${name} in its own settings exits 1, and status reports no failure of the running service`, async () => {
    const plan = await planBy(change);
    expect(plan).toMatchObject({
      code: 1,
      text: expect.stringContaining(`The target main ${words}`) as string,
    });
    expect(plan.text).not.toContain('a process of the service');
    expect(plan.told).toEqual([]);
    await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'displayName', value: name });
    const isWritten = async (): Promise<boolean> => (await place.platform.user(BOB))?.displayName === name;
    await eventually('written', isWritten, 2000);
  }, 60_000);

test('the platform refuses the key of the running service → plan with another key in its own settings still reads the platform', async () => {
  // The same key as scimToken makes another pair of keys, which the platform accepts too.
  const { main } = place.settings.targets;
  await place.platform.control('PATCH', '/faults', { status5xx: { share: 1, status: 401 } });
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'displayName', value: 'Bob Two' });
  const isRefused = async (): Promise<boolean> =>
    (await place.commands.run('status')).text.includes('refuses the key (401)');
  await eventually('refused', isRefused, 20_000);
  const rules = [{ path: '/', status5xx: { share: 1, status: 401 }, method: 'PATCH' }];
  await place.platform.control('PATCH', '/faults', { status5xx: { share: 0 }, rules });
  const plan = await planBy({ scimToken: main.token });
  expect(plan.code).toBe(2);
}, 90_000);
