// Tests that plan, reconcile and explain say that Redis came back empty, and do not call that a success.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
afterAll(() => place.stop());

test('after Redis came back empty, plan, reconcile and explain name the loss and what to do, and none exits 0', async () => {
  place = await openPlace({ ownRedis: true });
  const { commands, idp, redis } = place;
  await idp.createUser(ANN);
  await place.idle();
  const status = async () => (await commands.run('status')).text;
  // The service looks for a loss with each beat.
  await eventually(
    'the service has noted its data',
    async () => Boolean(await redis.exists(await place.key(':dataSeen'))),
    30_000,
  );
  await redis.flushall();
  await eventually('status says so', async () => (await status()).includes('came back empty'), 30_000);
  for (const [exit, ...command] of [
    [1, 'plan'],
    [1, 'reconcile', '--yes'],
    [4, 'explain', ANN],
  ] as const) {
    const { code, text, errors } = await commands.run(...command);
    expect([command, code]).toEqual([command, exit]);
    expect(errors.replaceAll(/\s+/g, ' ')).toMatch(
      /Redis came back empty: .* are lost\. Restore a backup .* full cycle/,
    );
    expect(text).toContain('came back empty');
  }
}, 90_000);
