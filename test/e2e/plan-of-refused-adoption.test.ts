// Tests that a plan shows a conflict, and no adoption, for an account that the sync will not take over.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import type { PlanEntry } from '../../src/reconcile/entry.ts';
import { byHand, createByHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const BOB = 'bob@acme.example';
const MESSAGE = 'an account with this userName carries another externalId';

let place: Place;
beforeAll(async () => {
  place = await openPlace({ target: { attributes: { level: { type: 'string', from: 'title' } } } });
  await createAccount(BOB, 'x-bob');
  await createAccount('ann@acme.example', 'ext-ann@acme.example');
}, 60_000);
afterAll(() => place.stop());

const createAccount = (userName: string, externalId: string): Promise<void> =>
  createByHand(place, 'Users', { userName, externalId });

async function plan(...args: string[]) {
  const file = join(place.commands.folder, 'plan.json');
  await place.commands.run('plan', '--out', file, ...args);
  return JSON.parse(readFileSync(file, 'utf8')).plans[0];
}
const brief = ({ entries }: { entries: PlanEntry[] }) =>
  entries.filter(({ action }) => action !== 'unmanaged').map(({ action, name }) => `${action} ${name}`);

test('before any sync plan shows the conflict of one person and the adoption of another', async () => {
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

test('the adoption of a user was refused → a plan with changed attribute settings still shows a conflict, not an adoption', async () => {
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

test('somebody replaces a linked account by one with another externalId → plan, sync --dry-run and explain show a conflict, and reconcile takes it over once the externalId is corrected', async () => {
  const name = 'cid@acme.example';
  const cid = await place.idp.createUser(name, { title: 'high' });
  await place.idp.createGroup('Lab', [cid]);
  await place.idle();
  await byHand(place, 'DELETE', `/Users/${(await place.platform.user(name))?.scimId}`);
  await createAccount(name, 'x-cid');
  const own = async () =>
    brief(await plan()).filter((line) => line.endsWith(name) || line === 'addMember Lab');
  expect(await own()).toEqual(['addMember Lab', `conflict ${name}`]);
  const texts: string[] = [];
  for (const words of [
    ['sync', name, '--dry-run'],
    ['sync', 'Lab', '--dry-run'],
    ['explain', name],
  ]) {
    const { text } = await place.commands.run(...words);
    texts.push(text.replaceAll(/\s+/g, ' '));
  }
  for (const text of texts) {
    expect(text).toContain(MESSAGE);
    expect(text).not.toMatch(/would write:|relink|setAttribute|reconcile that repairs/);
  }
  await place.platform.forgetRequests();
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect(await place.platform.writes()).toEqual([]);
  expect((await place.commands.run('status')).text).toContain(MESSAGE);
  await byHand(place, 'PATCH', `/Users/${(await place.platform.user(name))?.scimId}`, {
    op: 'replace',
    path: 'externalId',
    value: `ext-${name}`,
  });
  expect(await own()).toContain(`relink ${name}`);
  await place.commands.run('reconcile', '--yes');
  await place.idle();
  expect(await place.platform.user(name)).toMatchObject({ attributes: { level: 'high' }, groups: ['Lab'] });
}, 60_000);
