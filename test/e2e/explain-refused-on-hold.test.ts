// Tests that explain tells the refusal of a former dead letter while a hold delays the sync that judges it anew.
import { join } from 'node:path';
import '../support/load-modules.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { ANN, run } from '../support/situation-table.ts';

let place: Place;
afterEach(() => place.stop());

const explained = async (ref: string) =>
  (await place.commands.run('explain', ref)).text.replaceAll(/\s+/g, ' ');

test('a restore leaves a person as dead letter TakenByConnection → before the release, explain names the conflict and does not announce a takeover', async () => {
  const connections = {
    default: { tokens: [{ name: 'primary', secret: TOKEN }] },
    hr: { tokens: [{ name: 'hr', secret: `${TOKEN}-hr` }] },
  };
  place = await openPlace({ rest: { connections } });
  await place.idp.createUser(ANN);
  await place.idle();
  const hr = createIdp(`http://127.0.0.1:${place.port}/connections/hr/scim/v2`, `${TOKEN}-hr`);
  const ref = `User:${await hr.createUser(ANN)}`;
  await eventually('a dead letter', async () => (await explained(ref)).includes('TakenByConnection'));
  const file = join(place.commands.folder, 'day.backup');
  await run(place, 'backup', file);
  await place.stopApps();
  await run(place, 'restore', file, '--replace', '--yes');
  await place.start();

  const onHold = await explained(ref);
  expect(onHold).toContain('waits because all writes to main are on hold');
  expect(onHold).toMatch(
    /The last sync was refused, and the first sync after the end of the hold judges it anew: TakenByConnection: the account belongs to ann@acme\.example .* of connection default/,
  );
  expect(onHold).not.toContain('takes it over');
  await run(place, 'release');
  await eventually('a dead letter again', async () => (await explained(ref)).includes('needs a person'));
  expect(await explained(ref)).not.toContain('judges it anew');
}, 60_000);
