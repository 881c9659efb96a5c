// Tests what an operator hears of held changes and of waiting items when a backup is older than the last pushes.
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const NOT_CHANGED = 'not changed by a push since the restore';

let place: Place;
afterEach(() => place.stop());
const { told } = commandsAt(() => place);

const key = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const events = {
  issuer: 'https://scim.example.com',
  audience: 'https://siem.example.com',
  key,
  poll: { token: 'a-token-of-the-receiver-0123456789' },
};
const open = (): Promise<Place> =>
  openPlace({
    target: { guard: { approvers: 2, deactivate: { count: 0, percent: 0 } } },
    rest: { connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }], events } } },
  });

test('a held deactivation that is only known from a restored backup is shown as not changed by a push since, until the source changes the user', async () => {
  place = await open();
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  expect(await told('approvals', 'show', id)).not.toContain(NOT_CHANGED);
  const file = join(place.commands.folder, 'day.backup');
  await told('backup', file);
  // The identity provider takes the deactivation back after the backup, and does not repeat that.
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: true });
  await place.idle();
  await place.stopApps();
  await told('restore', file, '--replace', '--yes');

  expect(await told('approvals', 'show', id)).toMatch(
    /as of the backup of \S+, not changed by a push since the restore at \S+: check at the identity provider/,
  );
  await place.start();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value: 'Ann A.' });
  expect(await told('approvals', 'show', id)).not.toContain(NOT_CHANGED);
}, 60_000);

test('restore names the security events and the first approvals that are removed with the stored data', async () => {
  place = await open();
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await told('approvals', 'approve', id, '--yes', '--by', 'eva');
  const file = join(place.commands.folder, 'day.backup');
  await told('backup', file);
  await place.stopApps();
  const text = await told('restore', file, '--replace', '--yes');
  expect(text).toContain('2 security events that no receiver has taken were removed');
  expect(text).toContain('1 first approval that waited for a second person was removed');
  expect(await told('approvals', 'list')).not.toContain('1 of 2 approvals');
}, 60_000);
