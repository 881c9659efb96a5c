// Tests in Chromium that an open view does not pass old figures off as those of now, and calls no target in step that is not.
import type { Browser } from 'playwright-core';
import { connectRedis, untilReady } from '../../../src/directory/redis/connection.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWith } from '../../support/needs.ts';
import { silentLogger } from '../../../src/support/logger.ts';
import { launchBrowser, openPage, PAGE_BROWSER, type OpenPage } from './open-page.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const NAMES = ['ada', 'bob', 'eve'].map((name) => `${name}@acme.example`);
const CHANGED = 'This has changed since the list was read.';

describeWith(PAGE_BROWSER !== undefined, 'Chromium')('an open view', () => {
  let rig: AdminRig;
  let browser: Browser;
  let open: OpenPage;
  let ids: string[];
  const leave = (number: number): Promise<unknown> =>
    rig.bridge.idp.patch(`/Users/${ids[number]}`, { op: 'replace', path: 'active', value: false });
  const held = async (): Promise<any[]> => (await rig.operator.get('/approvals')).body;

  beforeAll(async () => {
    rig = await openAdmin({
      configure: ({ targets: { main } }) => {
        if (main) main.guard.deactivate = { count: 0, percent: 100 };
      },
    });
    ids = await Promise.all(NAMES.map((name) => rig.bridge.idp.createUser(name)));
    await rig.untilSynced();
    browser = await launchBrowser();
    open = await openPage(browser, rig);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await rig.bridge.stop();
  });

  test('when a change is held while the approvals view is open, the view says that it is outdated, and is redrawn only on request', async () => {
    const { page } = open;
    await open.open('approvals');
    await page.getByText('Nothing waits for a decision').waitFor();
    await leave(0);
    await page.getByText(CHANGED).waitFor();
    await page.getByText('Nothing waits for a decision').waitFor();
    await page.getByRole('button', { name: 'Show it as it is now' }).click();
    await page.getByText('1 account to deactivate', { exact: true }).waitFor();
    expect(await page.getByText(CHANGED).count()).toBe(0);
    await page.getByText('Decide about a part, or add a note').click();
    await page.getByLabel('Note').fill('ask HR first');
    await leave(1);
    await page.getByText(CHANGED).waitFor();
    expect(await page.getByLabel('Note').inputValue()).toBe('ask HR first');
    expect(await page.getByText('1 account to deactivate', { exact: true }).count()).toBe(1);
    await page.getByRole('button', { name: 'Show it as it is now' }).click();
    await page.getByText('2 accounts to deactivate', { exact: true }).waitFor();
  }, 60_000);

  test('when a change is held and then rejected, the open exceptions view says that it is outdated, and the people view updates its counts', async () => {
    const { page } = open;
    await open.open('exceptions');
    await page.getByRole('link', { name: 'Held by the guard 2' }).waitFor();
    await leave(2);
    await page.getByText(CHANGED).waitFor();
    await open.open('people');
    await page.getByRole('link', { name: 'Held 3' }).waitFor();
    const [{ id }] = await held();
    await rig.operator.post(`/approvals/${id}/reject`, { by: 'Bob' });
    await page.getByRole('link', { name: 'Held 0' }).waitFor();
    await page.getByRole('link', { name: 'All exceptions 3' }).waitFor();
  }, 60_000);

  test('a target whose only exceptions are rejected changes is not labelled "In step", and its comparison has nothing to write', async () => {
    await open.open('overview');
    await open.page.locator('.targets').getByText('Exceptions stand', { exact: true }).waitFor();
    expect(await open.page.getByText('In step').count()).toBe(0);
    await open.page.getByRole('button', { name: 'Compare' }).click();
    const outcome = open.page.locator('section[aria-label=Comparisons] .pill').first();
    await eventually('the comparison ends', async () => (await outcome.innerText()) === 'nothing to write');
    expect(await outcome.getAttribute('class')).toBe('pill calm');
  }, 30_000);

  test('a hold with a note of 200 characters fits the overview at both widths, and the approvals view advises the Release button and no command', async () => {
    const { page } = open;
    const [{ id }] = (await rig.operator.get('/approvals?all=true')).body;
    await rig.operator.post(`/approvals/${id}/withdraw`, { by: 'Bob' });
    await eventually('the changes are held again', async () => (await held()).length === 1, 20_000);
    await rig.operator.post('/hold', { by: 'Bob', note: 'x'.repeat(200) });
    for (const width of [390, 1200]) {
      await page.setViewportSize({ width, height: 844 });
      await open.open('overview');
      await page.getByText('On hold by Bob').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    }
    await open.open('approvals');
    await page.getByText('after the end of the hold of the target: Release ends it').waitFor();
    expect(await page.innerText('main')).not.toContain('scim-bridge');
    await rig.operator.post('/release', {});
  }, 60_000);

  test('an expired approval is shown as expired without an Approve button, and its changes are still counted beside a newer approval', async () => {
    const { page } = open;
    const fay = await rig.bridge.idp.createUser('fay@acme.example');
    await rig.untilSynced();
    const redis = connectRedis(rig.bridge.config.redis, 'commands', silentLogger);
    await untilReady(redis, 5000);
    await redis.hset(`${rig.bridge.config.redis.prefix}:{default}:guardApproval:main`, 'expires', '1');
    redis.disconnect();
    await open.open('overview');
    await page.getByText('Held by guard: the approval of 3 of the held changes expired').waitFor();
    await open.open('approvals');
    await page.getByText('expired', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await rig.bridge.idp.patch(`/Users/${fay}`, { op: 'replace', path: 'active', value: false });
    await page.getByText(CHANGED).waitFor();
    await page.getByRole('button', { name: 'Show it as it is now' }).click();
    await page.getByText('default → main: the approval of 3 of the held changes expired').waitFor();
    await page.getByText('1 account to deactivate', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(1);
  }, 60_000);

  test('the age of the platform data in the view of a person rises while the view stays open', async () => {
    const { page } = open;
    await page.evaluate(`location.hash = '#/person/User:${ids[0]}'`);
    await page.getByText(/Read from main (now|[1-3] s ago)/).waitFor();
    await page.getByText(/Read from main [4-9] s ago/).waitFor();
  }, 30_000);
});
