// Tests approvals by two persons: the first approval is stored. The changes are applied when another person approves
// the same ones.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { connectRedis, untilReady } from '../../../src/directory/redis/connection.ts';
import { silentLogger } from '../../../src/support/logger.ts';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { createCommands, type Commands } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWith, findTool } from '../../support/needs.ts';
import { settingsFor } from '../../support/settings.ts';
import { accessFaults } from './axe.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const CHROMIUM = findTool('chromium', 'chromium-browser', 'google-chrome', 'chromium-headless-shell');
const SHOTS = process.env.ADMIN_SCREENSHOTS;

const NAMES = Array.from({ length: 6 }, (_, index) => `p${index}@acme.example`);
let rig: AdminRig;
let commands: Commands;
let ids: string[];

beforeEach(async () => {
  rig = await openAdmin({
    configure: ({ server, targets }) => {
      server.signIn = {
        openid: null,
        proxy: { from: ['127.0.0.0/8'], nameHeader: 'X-Forwarded-User', rolesHeader: 'X-Forwarded-Groups' },
        roles: { viewer: ['viewers'], operator: ['operators'], approver: ['approvers'] },
        idleMinutes: 60,
        hours: 8,
      };
      if (targets.main)
        Object.assign(targets.main.guard, { approvers: 2, deactivate: { count: 0, percent: 100 } });
    },
  });
  const { sandbox, config } = rig.bridge;
  const guard = { approvers: 2 };
  commands = createCommands(settingsFor(sandbox, { guard }, { redis: config.redis }));
  ids = await Promise.all(NAMES.map((name) => rig.bridge.idp.createUser(name)));
  await rig.untilSynced();
}, 60_000);
afterEach(async () => {
  commands.remove();
  await rig.bridge.stop();
});

const leave = async (...numbers: number[]): Promise<void> => {
  for (const number of numbers)
    await rig.bridge.idp.patch(`/Users/${ids[number]}`, { op: 'replace', path: 'active', value: false });
  await rig.untilSynced();
};
const closed = async (): Promise<string[]> =>
  (await rig.bridge.platform.state()).users
    .filter(({ userName, active }) => NAMES.includes(userName) && !active)
    .map(({ userName }) => userName)
    .sort();
const heldId = async (): Promise<string> => (await rig.operator.get('/approvals')).body[0].id;

/** Sends an order as a person whom the proxy names. */
async function as(name: string, action: string, id: string, body: object = {}, groups = 'approvers') {
  const answer = await rig.raw(`/admin/v1/approvals/${encodeURIComponent(id)}/${action}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-scim-bridge-via': 'page',
      'x-forwarded-user': name,
      'x-forwarded-groups': groups,
    },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as any };
}

test('two approvals by one person under two names write nothing; an approval by a second person lets the changes be written', async () => {
  await leave(0, 1, 2);
  const id = await heldId();
  expect(await as('vera', 'approve', id, {}, 'viewers')).toMatchObject({ status: 403 });
  expect(await as('Anna', 'approve', id, { note: 'HR agreed' })).toMatchObject({
    status: 200,
    body: { outcome: 'noted', id, by: 'Anna', items: 3 },
  });
  expect(await as('Anna', 'approve', id)).toMatchObject({ status: 409 });
  expect(await as(' anna', 'approve', id)).toMatchObject({ status: 409 });
  await rig.untilSynced();
  expect(await closed()).toEqual([]);

  const { body: shown } = await rig.operator.get(`/approvals/${id}`);
  expect(shown).toMatchObject({
    state: 'held',
    approvers: 2,
    total: 3,
    firstApprovals: [{ id, by: 'Anna', total: 3, note: 'HR agreed' }],
  });
  expect(await as('Ben', 'approve', id)).toMatchObject({
    body: { outcome: 'decided', items: 3, remaining: 0 },
  });
  await eventually('they are closed', async () => (await closed()).length === 3);
  const [decided] = (await rig.operator.get('/approvals?all=true')).body;
  expect(decided).toMatchObject({ state: 'approved', by: 'Anna and Ben', total: 3 });
  expect(decided.firstApprovals).toBeUndefined();
  const acts = (await rig.operator.get('/acts')).body.map(({ act, by, note }: any) => [act, by, note]);
  expect(acts.slice(0, 2)).toEqual([
    ['approve', 'Ben', 'approved first by Anna'],
    ['approveFirst', 'Anna', 'HR agreed'],
  ]);
});

test('the second approval applies the changes that the first person saw, and none that was held later', async () => {
  await leave(0, 1);
  const id = await heldId();
  await as('anna', 'approve', id);
  await leave(2);
  const later = await heldId();
  expect(later).not.toBe(id);
  expect(await as('ben', 'approve', later)).toMatchObject({ body: { outcome: 'noted', items: 3 } });
  expect(await closed()).toEqual([]);
  expect(await as('cleo', 'approve', id)).toMatchObject({
    body: { outcome: 'decided', items: 2, remaining: 1 },
  });
  await eventually('two are closed', async () => (await closed()).length === 2);
  await rig.untilSynced();
  expect(await closed()).toEqual(NAMES.slice(0, 2));
});

test('the second approval of a selection applies the changes of the first approval, even when the selection now matches other changes', async () => {
  await leave(0, 1, 2);
  const id = await heldId();
  const { body: first } = await as('anna', 'approve', id, { persons: [NAMES[1]] });
  expect(first).toMatchObject({ outcome: 'noted', items: 1 });
  expect(first.id).toMatch(new RegExp(`^${id}~`));
  const { body: shown } = await rig.operator.get(`/approvals/${encodeURIComponent(first.id)}`);
  expect(shown).toMatchObject({ total: 1, matching: 1, items: [{ name: NAMES[1] }] });
  // An approval of another part, or of the whole list, counts as a separate first approval.
  expect(await as('ben', 'approve', id)).toMatchObject({ body: { outcome: 'noted', items: 3 } });
  expect(await as('ben', 'approve', first.id, { persons: [NAMES[2]] })).toMatchObject({ status: 400 });
  expect(await as('ben', 'approve', `${id}~00000000`)).toMatchObject({ status: 404 });
  expect(await as('ben', 'approve', first.id)).toMatchObject({ body: { outcome: 'decided', items: 1 } });
  await eventually('one is closed', async () => (await closed()).length === 1);
  expect(await closed()).toEqual([NAMES[1]]);
});

test('a first approval does not count for another selection of changes with the same stored description', async () => {
  await leave(0, 1);
  const id = await heldId();
  const [own, other] = [0, 1].map((number) => `User:${ids[number]}`);
  // Stored descriptions of selections are shortened, so these two are stored with the same description.
  const padding = Array.from({ length: 20 }, (_, index) => `User:${'0'.repeat(30)}${10 + index}`);
  const anna = await as('anna', 'approve', id, { refs: [...padding, own] });
  const ben = await as('ben', 'approve', id, { refs: [...padding, other] });
  expect([anna.body.outcome, ben.body.outcome]).toEqual(['noted', 'noted']);
  expect(anna.body.id).not.toBe(ben.body.id);
  await rig.untilSynced();
  expect(await closed()).toEqual([]);
  // A selection by name of the same change joins the same first approval, so the same person is refused.
  expect(await as('anna', 'approve', id, { persons: [NAMES[0]] })).toMatchObject({ status: 409 });
  expect(await as('ben', 'approve', id, { persons: [NAMES[0]] })).toMatchObject({
    body: { outcome: 'decided', items: 1 },
  });
  await eventually('one is closed', async () => (await closed()).length === 1);
  expect(await closed()).toEqual([NAMES[0]]);
});

test('two approvals whose id ends after the last held change do not cover a change that is held between them', async () => {
  await leave(0);
  const id = await heldId();
  const beyond = id.replace(/\d+$/, '99999999');
  expect(await as('anna', 'approve', beyond)).toMatchObject({ body: { outcome: 'noted', id, items: 1 } });
  await leave(1);
  expect(await as('ben', 'approve', beyond)).toMatchObject({ body: { outcome: 'noted', items: 2 } });
  await rig.untilSynced();
  expect(await closed()).toEqual([]);
  expect(await as('ben', 'approve', id)).toMatchObject({ body: { outcome: 'decided', items: 1 } });
  await eventually('one is closed', async () => (await closed()).length === 1);
  expect(await closed()).toEqual([NAMES[0]]);
});

test('first approvals of approvals that are decided since do not count against the limit of waiting first approvals', async () => {
  await leave(0, 1);
  const before = await heldId();
  expect(await as('anna', 'approve', before, { persons: [NAMES[0]] })).toMatchObject({ status: 200 });
  const redis = connectRedis(rig.bridge.config.redis, 'commands', silentLogger);
  await untilReady(redis, 5000);
  const [key = ''] = await redis.keys(`${rig.bridge.config.redis.prefix}*guardFirst*`);
  const [[field = '', text = '']] = Object.entries(await redis.hgetall(key)) as [[string, string]];
  for (let index = 0; index < 99; index++) await redis.hset(key, `${field}${index}`, text);
  redis.disconnect();
  expect(await as('anna', 'approve', before)).toMatchObject({ status: 409 });
  expect(await as('ben', 'reject', before)).toMatchObject({ body: { outcome: 'decided' } });
  await leave(2);
  const after = await heldId();
  expect(await as('anna', 'approve', after)).toMatchObject({ body: { outcome: 'noted', items: 1 } });
  expect(await as('cleo', 'approve', after)).toMatchObject({ body: { outcome: 'decided', items: 1 } });
});

const firstIds = async (): Promise<string[]> =>
  ((await rig.operator.get('/approvals')).body[0]?.firstApprovals ?? []).map(({ id }: any) => id);
const firstsOf = async (name: string): Promise<string[]> => {
  const { body } = await rig.operator.get(`/explain?resource=${encodeURIComponent(name)}`);
  return body[0].firstApprovals.map(({ id }: any) => id);
};

test('a first approval ends when the source takes the change back: the same change held again needs two new approvals', async () => {
  await leave(0, 1, 2);
  const id = await heldId();
  const { body: part } = await as('anna', 'approve', id, { persons: [NAMES[1]] });
  await as('anna', 'approve', id);
  expect(await firstsOf(NAMES[1] ?? '')).toEqual([part.id, id]);
  await rig.bridge.idp.patch(`/Users/${ids[1]}`, { op: 'replace', path: 'active', value: true });
  await rig.untilSynced();
  await leave(1);

  expect(await firstIds()).toEqual([id]);
  // Anna's approval of the list covers the other two changes only.
  expect(await firstsOf(NAMES[1] ?? '')).toEqual([]);
  expect(await firstsOf(NAMES[0] ?? '')).toEqual([id]);
  const order = await commands.run('approvals', 'approve', part.id, '--by', 'ben', '--yes');
  expect(order).toMatchObject({ code: 1 });
  expect(order.text).toContain('nothing of it waits any more');
  expect(await as('ben', 'approve', part.id)).toMatchObject({ status: 404 });
  expect((await rig.operator.get('/approvals?all=true')).body).toHaveLength(1);
  expect(await as('ben', 'approve', id)).toMatchObject({ body: { outcome: 'decided', items: 2 } });
  await eventually('two are closed', async () => (await closed()).length === 2);
  await rig.untilSynced();
  expect(await closed()).toEqual([NAMES[0], NAMES[2]]);
});

test('a first approval of a part ends when the whole list is approved', async () => {
  await leave(0, 1);
  const id = await heldId();
  await as('anna', 'approve', id, { persons: [NAMES[1]] });
  await as('anna', 'approve', id);
  await leave(2);
  expect(await as('ben', 'approve', id)).toMatchObject({ body: { outcome: 'decided', items: 2 } });
  await eventually('two are closed', async () => (await closed()).length === 2);
  expect(await firstIds()).toEqual([]);
});

test('a second approval answers with the number of changes that remain of the first approval', async () => {
  await leave(0, 1, 2);
  const id = await heldId();
  const { body: part } = await as('anna', 'approve', id, { persons: [NAMES[0], NAMES[1]] });
  await rig.bridge.idp.patch(`/Users/${ids[1]}`, { op: 'replace', path: 'active', value: true });
  await rig.untilSynced();
  await leave(1);
  expect(await as('ben', 'approve', part.id)).toMatchObject({
    body: { outcome: 'decided', items: 1, kinds: { deactivate: 1 }, remaining: 2 },
  });
  await eventually('one is closed', async () => (await closed()).length === 1);
  await rig.untilSynced();
  expect(await closed()).toEqual([NAMES[0]]);
});

test('one person can reject an approval that needs two approvers, and approving it afterwards needs two persons again', async () => {
  await leave(0, 1);
  const id = await heldId();
  await as('anna', 'approve', id);
  expect(await as('ben', 'reject', id)).toMatchObject({ body: { outcome: 'decided', items: 2 } });
  // Rejected changes can still be approved, which needs two persons again.
  expect(await as('cleo', 'approve', id)).toMatchObject({ body: { outcome: 'noted', items: 2 } });
  await rig.untilSynced();
  expect(await closed()).toEqual([]);
  expect(await as('anna', 'approve', id)).toMatchObject({ body: { outcome: 'decided', items: 2 } });
  await eventually('they are closed', async () => (await closed()).length === 2);
});

test('a withdrawn first approval does not count as the first of two', async () => {
  await leave(0);
  const id = await heldId();
  await as('anna', 'approve', id);
  expect(await as('anna', 'withdraw', id)).toMatchObject({ body: { outcome: 'retracted', items: 1 } });
  expect(await as('anna', 'withdraw', id)).toMatchObject({ status: 409 });
  expect(await as('ben', 'approve', id)).toMatchObject({ body: { outcome: 'noted' } });
  expect(await closed()).toEqual([]);
});

test('withdraw of a part of held changes says that no rejection of it exists, and how a first approval is taken back', async () => {
  await leave(0, 1, 2);
  const id = await heldId();
  const { body: part } = await as('anna', 'approve', id, { persons: [NAMES[0], NAMES[1]] });
  const taken = await commands.run('approvals', 'withdraw', id, '--person', NAMES[0] ?? '', '--yes');
  expect(taken).toMatchObject({ code: 1 });
  expect(taken.text).not.toContain('There is no approval');
  expect(taken.text).toContain('is held and nothing of it was rejected');
  expect(taken.text).toContain(`approvals withdraw ${part.id} (by anna)`);
  expect(await firstIds()).toEqual([part.id]);
  expect(await commands.run('approvals', 'withdraw', part.id, '--yes')).toMatchObject({ code: 0 });
  expect(await firstIds()).toEqual([]);
});

test('no second person is asked for once the settings need one approver only', async () => {
  await leave(0);
  const id = await heldId();
  await as('anna', 'approve', id);
  const { sandbox, config } = rig.bridge;
  const one = createCommands(settingsFor(sandbox, { guard: { approvers: 1 } }, { redis: config.redis }));
  try {
    expect((await one.run('approvals', 'list')).text).not.toContain('second person');
    expect((await one.run('approvals', 'show', id)).text).not.toContain('second person');
    expect(await one.run('approvals', 'approve', id, '--by', 'anna', '--yes')).toMatchObject({ code: 0 });
    await eventually('closed', async () => (await closed()).length === 1);
  } finally {
    one.remove();
  }
});

test('of two concurrent second approvals only one is carried out; all holders of the admin token count as one person', async () => {
  await leave(0, 1);
  const id = await heldId();
  const token = (by: string) => rig.operator.post(`/approvals/${id}/approve`, { by });
  expect((await token('anna')).body).toMatchObject({ outcome: 'noted' });
  expect((await token('ben')).status).toBe(409);
  // A name given with the admin token is stored with a note that it is not verified, and counts as that person.
  expect(await as('anna', 'approve', id)).toMatchObject({ status: 409 });
  const both = await Promise.all([as('cleo', 'approve', id), as('dora', 'approve', id)]);
  const items = both.map(({ body }) => (body.outcome === 'decided' ? body.items : 0));
  expect(items.reduce((sum, each) => sum + each, 0)).toBe(2);
  await eventually('they are closed', async () => (await closed()).length === 2);
});

test('an approval at the command line and one on the page count as two persons', async () => {
  await leave(0);
  const id = await heldId();
  const approve = (by: string) => commands.run('approvals', 'approve', id, '--by', by, '--yes', '--json');
  expect(await approve('anna')).toMatchObject({ code: 0, json: { outcome: 'noted', items: 1 } });
  expect(await approve('anna')).toMatchObject({ code: 1 });
  expect((await commands.run('approvals', 'list')).text).toContain(`a second person approves ${id}`);
  expect((await commands.run('approvals', 'withdraw', id, '--yes', '--by', 'ben')).text).toContain(
    'Withdrawn',
  );
  expect(await approve('anna')).toMatchObject({ json: { outcome: 'noted' } });
  expect(await as('Anna', 'approve', id)).toMatchObject({ status: 409 });
  expect(await as('ben', 'approve', id)).toMatchObject({ body: { outcome: 'decided', items: 1 } });
  await eventually('closed', async () => (await closed()).length === 1);
});

test('all holders of the admin token count as one person, and the refusal of another one says so', async () => {
  await leave(0);
  const id = await heldId();
  const approve = (by: string) => rig.operator.post(`/approvals/${id}/approve`, { by });
  expect((await approve('alice')).body).toMatchObject({ outcome: 'noted' });
  expect((await rig.operator.get(`/approvals/${id}`)).body.firstApprovals).toMatchObject([
    { withToken: true },
  ]);
  const { status, body } = await approve('carol');
  expect([status, body.detail]).toEqual([
    409,
    expect.stringMatching(
      /^alice \(admin token\) has approved .* All holders of the admin token count as one/,
    ),
  ]);
  expect(body.detail).not.toContain('You have');
});

test('of two operators who decide the same at once, one learns that the other has decided', async () => {
  await leave(0, 1);
  const id = await heldId();
  const answers = await Promise.all(['anna', 'ben'].map((name) => as(name, 'reject', id)));
  const [won, lost] = answers.toSorted((one, other) => one.status - other.status);
  expect(won).toMatchObject({ status: 200, body: { outcome: 'decided', items: 2 } });
  expect([lost?.status, lost?.body.detail]).toEqual([
    409,
    expect.stringMatching(
      new RegExp(`^Approval ${id} was rejected at .* by ${won?.body.by}: nothing of it is left to reject`),
    ),
  ]);
});

describeWith(CHROMIUM !== undefined, 'Chromium')('on the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
    });
  });
  afterAll(() => browser.close());

  /** Opens the approvals with the admin token. */
  async function withToken(name: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(10_000);
    await page.goto(`http://127.0.0.1:${rig.bridge.app.port}/admin/#/approvals`);
    await page.getByText('With the admin token').click();
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await page.getByLabel('Your name').fill(name);
    await page.getByRole('button', { name: 'Sign in with the token' }).click();
    await page.waitForSelector('main[data-view=approvals]');
    return page;
  }

  test('no holder of the admin token is offered to be the second person behind another one', async () => {
    await leave(0);
    await rig.operator.post(`/approvals/${await heldId()}/approve`, { by: 'alice' });
    const page = await withToken('carol');
    await page.getByText('A second person has to approve the same').waitFor();
    expect(await page.getByRole('button', { name: 'Approve as second person' }).count()).toBe(0);
  }, 60_000);

  test('the question before a decision counts the changes that are held now', async () => {
    await leave(0, 1, 2);
    await heldId();
    const page = await withToken('carol');
    await page.getByText('3 accounts to deactivate').waitFor();
    await rig.bridge.idp.patch(`/Users/${ids[0]}`, { op: 'replace', path: 'active', value: true });
    await rig.untilSynced();
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    expect(await page.locator('dialog').innerText()).toContain('2 accounts to deactivate.');
  }, 60_000);

  test('after an outage the sign-in form is shown when the bridge has another admin token', async () => {
    const page = await withToken('carol');
    await page.route('**/admin/v1/**', (route) => route.abort());
    await page.click('nav a[data-view=exceptions]');
    await page.getByText('The bridge does not answer. This page tries again.').waitFor();
    await page.unroute('**/admin/v1/**');
    let refused = 0;
    await page.route('**/admin/v1/**', (route) => {
      refused += 1;
      return route.fulfill({ status: 401, json: { detail: 'another token' } });
    });
    await page.getByText('For operators of this bridge.').waitFor();
    const before = refused;
    await page.waitForTimeout(2500);
    expect(refused).toBe(before);
  }, 60_000);

  test('a second person can join a first approval; the person who gave it cannot', async () => {
    await leave(0, 1, 2);
    const visit = async (name: string): Promise<Page> => {
      const context = await browser.newContext({
        viewport: { width: 1200, height: 900 },
        extraHTTPHeaders: { 'X-Forwarded-User': name, 'X-Forwarded-Groups': 'approvers' },
      });
      const page = await context.newPage();
      page.setDefaultTimeout(10_000);
      await page.goto(`http://127.0.0.1:${rig.bridge.app.port}/admin/#/approvals`);
      return page;
    };
    const press = async (page: Page, name: string): Promise<void> => {
      await page.getByRole('button', { name, exact: true }).click();
      await page.locator('dialog button[value=yes]').click();
    };
    const anna = await visit('anna');
    await press(anna, 'Approve');
    await anna.getByText('A second person has to approve the same').waitFor();
    expect(await accessFaults(anna)).toEqual([]);
    if (SHOTS) {
      mkdirSync(SHOTS, { recursive: true });
      await anna.screenshot({ path: join(SHOTS, 'first-approval.png'), fullPage: true });
    }
    expect(await anna.getByRole('button', { name: 'Approve as second person' }).count()).toBe(0);
    await press(anna, 'Approve');
    await anna.getByText('another person has to approve it too').waitFor();
    expect(await closed()).toEqual([]);
    await press(await visit('ben'), 'Approve as second person');
    await eventually('they are closed', async () => (await closed()).length === 3);
  }, 60_000);
});
