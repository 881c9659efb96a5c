// Tests what a command says when a signal of the system ends it while the platform is slow.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const NOTHING_CHANGED = 'ended by a signal; nothing was changed';

let place: Place;
beforeAll(async () => {
  place = await openPlace({});
  await place.idp.createUser(ANN);
  await place.idle();
  await place.stopApps();
  await place.platform.control('PATCH', '/faults', { latencyMs: 8000 });
}, 60_000);
afterAll(() => place.stop());

/** Runs a command, and ends it by a signal as soon as it listens to signals and has had time for a first call. */
async function interrupted(signal: 'SIGINT' | 'SIGTERM', ...words: string[]) {
  const before = process.listenerCount(signal);
  const running = place.commands.run(...words);
  await eventually('the command listens', () => Promise.resolve(process.listenerCount(signal) > before));
  await new Promise((resolve) => setTimeout(resolve, 300));
  process.emit(signal);
  return running;
}

test.each([
  ['SIGINT', ['plan']],
  ['SIGTERM', ['sync', ANN, '--dry-run']],
  ['SIGINT', ['verify-access', ANN]],
] as const)(
  '%s ends %j → it says that nothing was changed',
  async (signal, words) => {
    const { code, errors } = await interrupted(signal, ...words);
    expect(code).toBe(1);
    expect(errors).toContain(NOTHING_CHANGED);
    expect(errors).not.toMatch(/aborted by the caller|a worker, if one runs/);
  },
  60_000,
);

test('SIGINT ends `verify-access --json` → the JSON has the plain sentence', async () => {
  const { code, json } = await interrupted('SIGINT', 'verify-access', ANN, '--json');
  expect(code).toBe(1);
  expect(json).toMatchObject({ ok: false, result: 'unknown', error: NOTHING_CHANGED });
}, 60_000);

test('SIGINT ends a reconcile that may write → it says that a worker applies what the command has marked', async () => {
  const { text } = await interrupted('SIGINT', 'reconcile', '--yes');
  expect(text).toContain('ended by a signal; a worker, if one runs, applies what the command has marked');
}, 60_000);
