// Tests in Chromium that people sign in with a provider, and that the page offers what their role allows.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { eventually } from '../../support/eventually.ts';
import { describeWith, findTool } from '../../support/needs.ts';
import { accessFaults } from './axe.ts';
import { openSignIn, type PEOPLE, type SignInRig } from './sign-in-rig.ts';

const CHROMIUM = findTool('chromium', 'chromium-browser', 'google-chrome', 'chromium-headless-shell');
const SHOTS = process.env.ADMIN_SCREENSHOTS;

describeWith(CHROMIUM !== undefined, 'Chromium')('sign-in with a provider, in a browser', () => {
  let open: SignInRig;
  let browser: Browser;

  beforeAll(async () => {
    open = await openSignIn();
    browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
    });
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await open.rig.bridge.stop();
    await open.provider.stop();
  });

  async function visit(person: keyof typeof PEOPLE, place = ''): Promise<Page> {
    open.provider.person = person;
    const context = await browser.newContext({ viewport: { width: 1400, height: 800 } });
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    await page.goto(`${open.base}/admin/${place}`);
    await page.getByRole('button', { name: 'Sign in with your account' }).click();
    return page;
  }

  async function shoot(page: Page, name: string): Promise<void> {
    if (!SHOTS) return;
    mkdirSync(SHOTS, { recursive: true });
    await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
  }

  test('the sign-in form offers the identity provider first and the admin token second', async () => {
    const page = await browser.newPage({ colorScheme: 'dark', viewport: { width: 390, height: 800 } });
    await page.goto(`${open.base}/admin/`);
    await page.getByText('With the admin token').click();
    expect(await page.getByLabel('Admin token').isVisible()).toBe(true);
    expect(await accessFaults(page)).toEqual([]);
    await shoot(page, 'sign-in-provider');
  }, 30_000);

  test('a viewer who signs in returns to the linked view, sees all data and cannot give orders', async () => {
    const page = await visit('vera', '#/log');
    await page.waitForSelector('main[data-view=log]');
    expect(await page.textContent('#who')).toBe('vera@acme.example');
    await page.click('nav a[data-view=overview]');
    const hold = page.getByRole('button', { name: 'Hold' });
    await hold.waitFor();
    expect([await hold.isDisabled(), await hold.getAttribute('title')]).toEqual([
      true,
      'Needs the role operator.',
    ]);
    expect(await page.evaluate('[sessionStorage.length, document.cookie]')).toEqual([0, '']);
    await shoot(page, 'overview-viewer');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with your account' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Sign in with your account' }).waitFor();
  }, 30_000);

  test('an order of a signed-in operator is recorded under the name of that operator', async () => {
    const page = await visit('otto');
    await page.waitForSelector('main[data-view=overview]');
    expect(await page.textContent('#who')).toBe('otto@acme.example, operator');
    await page.getByRole('button', { name: 'Resync' }).click();
    const agree = page.locator('dialog button[value=yes]');
    await agree.click();
    await eventually('the act is written', async () => {
      const [act] = (await open.rig.operator.get('/acts?limit=1')).body;
      return act?.act === 'resync' && act.by === 'otto@acme.example' && act.via === 'page';
    });
    // The request fails although the session is valid: the page must not claim that the person is signed out.
    await page.route('**/v1/session', (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are still signed in').waitFor();
  }, 30_000);

  test('a sign-out in a window whose session another window has ended succeeds', async () => {
    const page = await visit('otto');
    await page.waitForSelector('main[data-view=overview]');
    // Without the live stream the window does not learn that its session has ended.
    await page.route('**/v1/live', (route) => route.abort());
    const other = await page.context().newPage();
    await other.goto(`${open.base}/admin/`);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.getByRole('button', { name: 'Sign in with your account' }).waitFor();
    await page.route('**/v1/operations', (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with your account' }).waitFor();
    expect(await page.textContent('#said')).toBe('');
  }, 30_000);

  test('a person who signs in without a role sees on the page that the role is missing', async () => {
    const page = await visit('nora');
    await page.getByText('none of the roles viewer, operator and approver').waitFor();
    await shoot(page, 'sign-in-refused');
  }, 30_000);
});
