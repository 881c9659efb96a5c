// Tests that a plan shows a conflict, and no adoption, for an account that the sync will not take over.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import type { PlanEntry } from '../../src/reconcile/entry.ts';
import { openPlace, type Place } from '../support/situation.ts';

const BOB = 'bob@acme.example';
const SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
const MESSAGE = 'an account with this userName carries another externalId';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { attributes: { level: { type: 'string', from: 'title' } } } });
  const { platformUrl, fixtures } = place.sandbox.ready;
  const authorization = `Bearer ${fixtures.apiKeys.admin}`;
  for (const [userName, externalId] of [
    [BOB, 'x-bob'],
    ['ann@acme.example', 'ext-ann@acme.example'],
  ])
    await fetch(`${platformUrl}/api/scim/v2/Users`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ schemas: [SCHEMA], userName, externalId }),
    });
}, 60_000);
afterAll(() => place.stop());

async function plan(...args: string[]) {
  const file = join(place.commands.folder, 'plan.json');
  await place.commands.run('plan', '--out', file, ...args);
  return JSON.parse(readFileSync(file, 'utf8')).plans[0];
}
const brief = ({ entries }: { entries: PlanEntry[] }) =>
  entries.filter(({ action }) => action !== 'unmanaged').map(({ action, name }) => `${action} ${name}`);

test('before the first sync the plan shows the conflict of one person and the adoption of another', async () => {
  await place.commands.run('hold', '--by', 'olga');
  const bob = await place.idp.createUser(BOB, { externalId: 'b2', title: 'high' });
  await place.idp.createUser('ann@acme.example', { displayName: 'Ann' });
  await place.idp.createGroup('crew', [bob]);
  const made = await plan();
  const { text } = await place.commands.run('sync', BOB, '--dry-run');
  expect(brief(made)).toContain('adopt ann@acme.example');
  expect(brief(made).filter((line) => line.endsWith(BOB))).toEqual([`conflict ${BOB}`]);
  const joins = made.entries.filter(
    ({ action, effect }: PlanEntry) => action === 'addMember' && effect === 'apply',
  );
  expect(joins).toEqual([]);
  expect(made.counts).toMatchObject({ adopt: 1, conflict: 1 });
  expect(text.replaceAll(/\s+/g, ' ')).toContain(MESSAGE);
  expect(text).not.toContain('adopt');
}, 30_000);

test('a user whose adoption was refused stays a conflict, not an adoption, in a plan made with changed attribute settings', async () => {
  await place.commands.run('release');
  await place.idle();
  expect((await place.commands.run('dead-letters', 'list')).text).toContain(BOB);
  expect((await place.platform.user(BOB))?.externalId).toBe('x-bob');
  const file = join(place.commands.folder, 'other.json');
  const other = JSON.parse(readFileSync(join(place.commands.folder, 'bridge.json'), 'utf8'));
  other.targets.main.attributes.level.from = 'nickName';
  writeFileSync(file, JSON.stringify(other));
  const made = await plan('--config', file);
  expect(brief(made).filter((line) => line.endsWith(BOB))).toEqual([`conflict ${BOB}`]);
  expect(made.counts.adopt).toBeUndefined();
}, 30_000);
