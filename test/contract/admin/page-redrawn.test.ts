// Tests in Chromium what the page shows when a view is changed in place, when it cannot be read anew, and after it is left.
import type { Browser } from 'playwright-core';
import { byHand } from '../../support/by-hand.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWith } from '../../support/needs.ts';
import { accessFaults } from './axe.ts';
import { launchBrowser, openPage, PAGE_BROWSER, type OpenPage } from './open-page.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const NO_REDIS = {
  status: 503,
  contentType: 'application/problem+json',
  body: '{"detail":"Redis does not answer."}',
};

describeWith(PAGE_BROWSER !== undefined, 'Chromium')('a view that is drawn again', () => {
  let rig: AdminRig;
  let browser: Browser;
  let open: OpenPage;

  beforeAll(async () => {
    rig = await openAdmin();
    await rig.bridge.idp.createUser('ada@acme.example');
    await rig.bridge.idp.createGroup('analysts', []);
    await rig.untilSynced();
    browser = await launchBrowser();
  }, 60_000);
  beforeEach(async () => {
    open = await openPage(browser, rig);
  });
  afterEach(() => open.page.context().close());
  afterAll(async () => {
    await browser.close();
    await rig.bridge.stop();
  });

  /** Makes the page believe that its tab is hidden, or shown again. */
  const setHidden = (isHidden: boolean): Promise<unknown> =>
    open.page.evaluate(
      `Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
       document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`,
    );

  test('when the read of the platform adds a reason to the view of a person, "Sync now" still syncs and "Verify access" still verifies', async () => {
    const { page } = open;
    const [ada, group] = [
      (await rig.bridge.platform.user('ada@acme.example'))?.scimId ?? '',
      (await rig.bridge.platform.group('analysts'))?.scimId ?? '',
    ];
    const byOthers = (op: string) =>
      byHand(rig.bridge, 'PATCH', `/Groups/${group}`, {
        op,
        ...(op === 'add'
          ? { path: 'members', value: [{ value: ada }] }
          : { path: `members[value eq "${ada}"]` }),
      });
    await byOthers('add');
    await open.open('people');
    await page.getByLabel('Person or group').fill('ada@acme.example');
    await page.keyboard.press('Enter');
    await page.getByText('the bridge does not manage through this connection now and leaves').waitFor();
    await page.getByRole('button', { name: /^Verify access of ada/ }).click();
    await page.getByText('From push to what is visible').waitFor();
    await page.getByRole('button', { name: 'Sync now' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Sync' }).click();
    expect(await open.told()).toMatch(/^(As desired|Nothing more to do)/);
    await byOthers('remove');
  }, 60_000);

  test('a finished comparison stays on the overview after another order, with its plan and its buttons', async () => {
    const { page } = open;
    const card = page.locator('section[aria-label=Comparisons]');
    await page.getByRole('button', { name: 'Compare' }).click();
    await card.getByRole('button', { name: 'Save as a file' }).waitFor();
    const before = await card.innerText();
    await page.getByRole('button', { name: 'Resync' }).click();
    const [answer] = await Promise.all([
      page.waitForResponse(/\/v1\/operations$/),
      page.locator('dialog').getByRole('button', { name: 'Resync' }).click(),
    ]);
    await answer.finished();
    // Longer than the page takes to draw the answer, and shorter than the next read of the operations.
    await page.waitForTimeout(500);
    const withoutAges = (text: string) => text.replaceAll(/\bnow\b|\d+ s ago/g, '');
    expect(withoutAges(await card.innerText())).toBe(withoutAges(before));
    await card.getByRole('button', { name: 'Save as a file' }).waitFor();
  }, 60_000);

  test('a list that cannot be read anew keeps a note that it is old, until it is shown as it is now', async () => {
    const { page } = open;
    const old = page.getByText('This could not be read anew, and is shown as it was read before.');
    await open.open('dead-letters');
    await page.getByText('No dead letters').waitFor();
    const { undo } = await open.answer(/^\/dead-letters$/, NO_REDIS);
    await rig.bridge.idp.createGroup('system:all', []);
    await old.waitFor();
    expect(await open.told()).toBe('Redis does not answer.');
    expect(await accessFaults(page)).toEqual([]);
    const again = page.getByRole('button', { name: 'Show it as it is now' });
    await again.click();
    await eventually('the second read has failed', async () => (await old.count()) === 1);
    await undo();
    await again.click();
    await page.getByText('1 dead letter', { exact: true }).waitFor();
    expect(await old.count()).toBe(0);
  }, 60_000);

  test('after the sign-out a view that was still being read does not appear', async () => {
    const { page } = open;
    let answerIt = (): void => undefined;
    const wanted = new Promise<void>((resolve) => (answerIt = resolve));
    await page.route('**/v1/exceptions?*', async (route) => {
      await wanted;
      await route.continue();
    });
    await page.click('nav a[data-view=exceptions]');
    await page.getByText('Reading …').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Admin token').waitFor();
    const answered = page.waitForResponse(/\/v1\/exceptions/);
    answerIt();
    await (await answered).finished();
    await page.waitForTimeout(300);
    expect(await page.getByLabel('Admin token').isVisible()).toBe(true);
    expect(await page.locator('h1').innerText()).toBe('Sign in');
  }, 60_000);

  test('while its tab is hidden the page says nothing about the bridge, and when it is shown again tells the age of the figures', async () => {
    const { page } = open;
    const spoken = page.locator('#live-spoken');
    await page.locator('#live').getByText('Live').waitFor();
    await setHidden(true);
    // Longer than the silence after which a shown page says that the bridge does not answer.
    await page.waitForTimeout(5000);
    expect([await page.locator('#live').innerText(), await spoken.textContent()]).toEqual(['Live', '']);
    const seen: string[] = [];
    await page.exposeFunction('tellLive', (text: string) => void seen.push(text));
    await page.evaluate(
      `new MutationObserver(() => tellLive(document.getElementById('live').textContent))
         .observe(document.getElementById('live'), { childList: true, characterData: true, subtree: true })`,
    );
    await setHidden(false);
    await page.locator('#live').getByText('Live').waitFor();
    await eventually('it is live again', () => Promise.resolve(seen.at(-1) === 'Live'));
    expect(seen.filter((text) => text.startsWith('No answer'))).toEqual([]);
  }, 60_000);

  test('a search ends when its view is left', async () => {
    const { page } = open;
    let searches = 0;
    const { undo } = await open.answer(/^\/search$/, {
      status: 200,
      contentType: 'application/json',
      body: JSON.stringify({ found: [], next: 'more' }),
    });
    page.on('request', (request) => void (request.url().endsWith('/v1/search') && searches++));
    await open.open('people');
    await page.getByLabel('Person or group').fill('rare');
    await page.getByText('Still looking …').waitFor();
    await open.open('log');
    const before = searches;
    await page.waitForTimeout(500);
    expect(searches - before).toBeLessThanOrEqual(1);
    await undo();
  }, 60_000);
});
