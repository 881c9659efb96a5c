// Tests what plan, status and explain tell of changes that the bridge made between a backup and its restore.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { run } from '../support/situation-table.ts';

const [ANN, BEN, CAT, DAN, EVE] = ['ann', 'ben', 'cat', 'dan', 'eve'].map(
  (name) => `${name}@acme.example`,
) as [string, string, string, string, string];
const ids: string[] = [];
let place: Place;
beforeAll(async () => {
  place = await openPlace({ ownRedis: true });
  for (const name of [ANN, BEN, CAT, EVE]) ids.push(await place.idp.createUser(name));
  const north = await place.idp.createGroup('north', ids.slice(0, 2));
  await place.idp.createGroup('south', ids.slice(0, 1));
  await place.idle();
  await run(place, 'reconcile', '--yes');
  const file = join(place.commands.folder, 'old.backup');
  await run(place, 'backup', file);
  // The platform notes times in whole milliseconds, so the next change must not fall into that of the backup.
  await sleep(20);
  const [ann, ben, cat] = ids;
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value: 'Ann New' });
  await place.idp.patch(`/Groups/${north}`, { op: 'add', path: 'members', value: [{ value: cat }] });
  await place.idp.patch(`/Groups/${north}`, { op: 'remove', path: `members[value eq "${ben}"]` });
  await place.idp.createUser(DAN);
  await place.idle();
  await place.stopApps();
  await byHand(place, 'DELETE', `/Users/${(await place.platform.user(EVE))?.scimId ?? ''}`);
  const { groups } = await place.platform.state();
  const south = groups.find(({ displayName }) => displayName === 'south');
  await byHand(place, 'DELETE', `/Groups/${south?.scimId ?? ''}`);
  await run(place, 'restore', file, '--replace', '--yes');
}, 60_000);
afterAll(() => place.stop());

const { told } = commandsAt(() => place);

test('the bridge wrote changes between backup and restore → plan says that others or the bridge made these changes', async () => {
  const text = await told('plan');
  expect(text).toMatch(
    /! Restored at \S+ from the backup of \S+: others or the bridge itself made the changes after the backup, and the bridge cannot tell which\./,
  );
  expect(text).toMatch(/displayName differs \(changed after the backup[^)]*\)/);
  expect(text).toMatch(/member at the source, taken out at the platform \(changed after the backup[^)]*\)/);
  expect(text).not.toContain('platform changed');
  expect(text).toMatch(/its account is gone at the platform[^(]* \(changed after the backup[^)]*\)/);
  expect(text).toMatch(
    /the group is gone at the platform[^(]*; it is made \(changed after the backup[^)]*\)/,
  );
  expect(text).not.toContain('source changed');
  expect(text).toContain('1 member was added by others, or by the bridge before the restore, and stays');
  const out = join(place.commands.folder, 'restored.plan');
  await place.commands.run('plan', '--out', out);
  const saved = JSON.parse(readFileSync(out, 'utf8'));
  const entries: { name: string; reason: string }[] = saved.plans[0].entries;
  expect(entries.find(({ name }) => name === DAN)?.reason).toBe(
    'not pushed by any identity provider since the restore, and not in the backup; it is not changed',
  );
}, 30_000);

test.each([['explain'], ['verify-access'], ['sync'], ['links', 'show'], ['log', '--resource']])(
  '%s %s of a person pushed between backup and restore names the restore as a possible reason',
  async (...words) => {
    const text = await told(...words, DAN);
    expect(text).toMatch(
      /A restore brought the backup of \S+Z back: a resource that was pushed after it, and not again since, is not known either\./,
    );
  },
  30_000,
);

test('the source has not pushed a person since a restore → verify-access says that later pushes are not known', async () => {
  expect(await told('verify-access', BEN)).toMatch(
    /The record was restored from the backup of \S+Z: what the source pushed or deleted between the backup and the restore is not known, unless it pushes again\./,
  );
}, 30_000);

test('a restore is released → explain says of surplus memberships that somebody else wrote them, or the bridge between backup and restore', async () => {
  // Without a scheduler: after its first reconcile the restore would not count as a possible cause any more.
  for (const role of ['api', 'worker'] as const) await place.start(role);
  await run(place, 'release');
  await place.idle();
  const text = await told('explain', CAT, '--all');
  expect(text).toMatch(
    /it is in 1 group more, which others, or the bridge between the backup of \S+ and the restore, wrote, and which the bridge leaves: north/,
  );
  expect(text).toMatch(/restored from the backup of \S+: changes in between are not known/);
  expect(await told('status')).not.toContain('by others found');
}, 30_000);

test('a reconcile after a restore has converged → neither explain nor plan says that the bridge may have written a membership before the restore', async () => {
  await run(place, 'reconcile', '--yes');
  const text = await told('explain', CAT, '--all');
  expect(text).toMatch(
    /in 1 group more, which the bridge does not manage through this connection now and leaves: north/,
  );
  expect(text).toMatch(/restored from the backup of \S+: changes in between are not known/);
  expect(await told('plan')).not.toContain('before the restore');
}, 30_000);

test('a reconcile after a restore has converged → a later change at the platform is attributed to somebody else, not to the backup', async () => {
  await run(place, 'reconcile', '--yes');
  const { platformUrl, fixtures } = place.sandbox.ready;
  const scimId = (await place.platform.user(ANN))?.scimId;
  const answer = await fetch(`${platformUrl}/api/scim/v2/Users/${scimId}`, {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${fixtures.apiKeys.admin}`,
      'content-type': 'application/scim+json',
    },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'displayName', value: 'By Others' }],
    }),
  });
  expect(answer.status).toBe(200);
  const text = await told('plan');
  expect(text).toMatch(/displayName differs \(platform changed[^)]*\)/);
  expect(text).not.toContain('after the backup');
}, 30_000);
