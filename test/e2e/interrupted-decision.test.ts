// Tests that the running service finishes a decision whose process was killed.
import '../support/load-modules.ts';
import { join } from 'node:path';
import { openDesiredStates } from '../../src/app/open.ts';
import { readSettings } from '../../src/cli/cli.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

/** More changes than one script moves. */
const MANY = 130;

let place: Place;
afterEach(() => place.stop());

test('the command approvals approve is interrupted after a first portion of its decisions → the service closes all accounts without another command', async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  const names = Array.from({ length: MANY }, (_, index) => `p${index}@acme.example`);
  const ids = await Promise.all(names.map((name) => place.idp.createUser(name)));
  await place.idle();
  await Promise.all(
    ids.map((id) => place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })),
  );
  await place.idle();
  const { folder } = place.commands;
  const opened = openDesiredStates(readSettings({ env: {}, cwd: folder, file: join(folder, 'bridge.json') }));
  await opened.reach();
  const guardStore = opened.states[0]?.outboxes.get('main')?.guardStore;
  const id = (await guardStore?.open())?.id ?? '';
  await guardStore?.decide('approve', id, 'ops', { portions: 1 });
  opened.redis.disconnect();
  const open = async () =>
    (await place.platform.state()).users.filter(({ userName, active }) => names.includes(userName) && active);
  await eventually('all accounts are closed', async () => (await open()).length === 0);
}, 60_000);
