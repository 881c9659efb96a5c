// Tests the operators' page in Chromium, and its files and headers.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expiryText } from '../../../src/cli/approval-view.ts';
import { chromium, type Browser, type Page } from 'playwright-core';
import { eventually } from '../../support/eventually.ts';
import { describeWith, findTool } from '../../support/needs.ts';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { accessFaults } from './axe.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const CHROMIUM = findTool('chromium', 'chromium-browser', 'google-chrome', 'chromium-headless-shell');
/** `npm run screenshots` takes the pictures of docs/admin.md from here. */
const SHOTS = process.env.ADMIN_SCREENSHOTS;
const VIEWPORT = { width: 1200, height: 900 };
const PEOPLE = ['ada.lovelace', 'grace.hopper', 'alan.turing', 'mary.jackson', 'john.backus', 'edith.clarke']
  .concat(['karen.jones', 'hedy.lamarr'])
  .map((name) => `${name}@acme.example`);
let rig: AdminRig;

beforeAll(async () => {
  rig = await openAdmin({
    configure: (config) => {
      if (config.targets.main) config.targets.main.guard.deactivate = { count: 1, percent: 100 };
    },
  });
  const { idp } = rig.bridge;
  const ids = await Promise.all(PEOPLE.map((name) => idp.createUser(name)));
  await idp.createGroup('analysts', ids.slice(0, 4));
  await idp.createGroup('readers', ids.slice(0, 2));
  await idp.createGroup('system:all', ids.slice(0, 2));
  await rig.untilSynced();
  for (const id of ids.slice(4))
    await idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
  await rig.untilSynced();
}, 60_000);
afterAll(() => rig.bridge.stop());

test("the operators' page is served without a token, has no inline script or style, and its CSP allows requests to this server only", async () => {
  const redirect = await rig.raw('/admin');
  expect([redirect.status, redirect.headers.get('location')]).toEqual([308, '/admin/']);
  const page = await rig.raw('/admin/');
  expect(page.status).toBe(200);
  const policy = page.headers.get('content-security-policy') ?? '';
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
  ])
    expect(policy).toContain(part);
  expect(policy).not.toContain('unsafe');
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  const html = await page.text();
  expect(html).not.toMatch(/<script(?![^>]* src=)|\son\w+=|style=/);
  for (const [, file] of html.matchAll(/(?:src|href)="([\w.]+)"/g))
    expect([file, (await rig.raw(`/admin/${file}`)).status]).toEqual([file, 200]);
  const etag = page.headers.get('etag') ?? '';
  expect((await rig.raw('/admin/', { headers: { 'if-none-match': etag } })).status).toBe(304);
  for (const path of ['/admin/..%2fapp.js', '/admin/%2e%2e/app.ts', '/admin/none.js'])
    expect([path, (await rig.raw(path)).status]).toEqual([path, 404]);
});

const inBrowser = describeWith(CHROMIUM !== undefined, 'Chromium');

inBrowser('in a browser', () => {
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];
  const see = async (text: string | RegExp): Promise<void> =>
    void (await page.getByText(text).first().waitFor({ timeout: 10_000 }));
  const open = async (view: string): Promise<void> => {
    await page.click(`nav a[data-view=${view}]`);
    await page.waitForSelector(`main[data-view=${view}]`);
  };
  const signIn = async (token = ADMIN_TOKEN): Promise<void> => {
    await page.goto(`http://127.0.0.1:${rig.bridge.app.port}/admin/`);
    await page.getByLabel('Admin token').fill(token);
    await page.getByLabel('Your name').fill('Alice');
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  const shoot = async (name: string): Promise<void> => {
    if (!SHOTS) return;
    mkdirSync(SHOTS, { recursive: true });
    await page.locator('#said').waitFor({ state: 'hidden' });
    await page.screenshot({ path: join(SHOTS, `${name}.png`) });
  };

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
    });
    page = await browser.newPage({ viewport: VIEWPORT });
    page.setDefaultTimeout(10_000);
    page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
    page.on('pageerror', (error) => void faults.push(error.message));
  }, 60_000);
  afterAll(() => browser.close());

  test('a wrong admin token shows an error; the right token opens the page and is stored for this browser tab only', async () => {
    await signIn('wrong');
    await see('This is not the admin token.');
    await shoot('sign-in');
    // Chromium writes the 401 to its console, which is no error of the page.
    faults.length = 0;
    await signIn();
    await page.waitForSelector('main[data-view=overview]');
    await see('Needs a person');
    await see('Waiting, by priority');
    for (const unit of ['resources by priority', 'held changes, and resources']) await see(unit);
    const kept = await page.evaluate('[sessionStorage.length, localStorage.length, document.cookie]');
    // The tab stores the token and the name of the operator.
    expect(kept).toEqual([2, 0, '']);
  }, 60_000);

  test("the operators' page shows a plan as a diff after Compare, and explains a person without writing the person's name into its address", async () => {
    await page.setViewportSize(VIEWPORT);
    await page.emulateMedia({ colorScheme: 'light' });
    await open('overview');
    await shoot('overview');
    await page.getByRole('button', { name: 'Compare' }).click();
    await eventually('the diff is there', async () => (await page.locator('.diff').count()) > 0, 20_000);
    await shoot('comparison');
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as a file' }).click(),
    ]);
    const plan = JSON.parse(readFileSync(await saved.path(), 'utf8'));
    expect(saved.suggestedFilename()).toMatch(/^plan-\w+\.json$/);
    // The saved file is a plan that `apply` accepts, because nothing has changed since.
    const applied = await rig.operator.post('/apply', { saved: plan });
    expect([applied.status, applied.body]).toMatchObject([202, { kind: 'apply' }]);
    await rig.operator.ended(applied.body.id);
    await open('people');
    await page.getByLabel('Person or group').fill('analys');
    await page.getByRole('link', { name: 'analysts' }).waitFor();
    await page.getByLabel('Person or group').fill('zzz');
    await see('Nobody is known by this name or id');
    await page.getByLabel('Person or group').fill('@ACME');
    await see('8 found');
    expect(await accessFaults(page)).toEqual([]);
    await shoot('search');
    await page.getByRole('link', { name: PEOPLE[0] ?? '' }).click();
    await see('Timeline');
    // The groups of one state and cause are one list, which tells both once.
    await see(/^2 applied$/);
    expect(page.url()).toMatch(/#\/person\/User%3A\w+$/);
    await page.getByRole('link', { name: 'All log entries' }).click();
    await page.waitForSelector('main[data-view=log]');
    await open('people');
    await page.getByLabel('Person or group').fill(PEOPLE[2] ?? '');
    await page.keyboard.press('Enter');
    await see('As desired');
    await see('Timeline');
    expect(page.url()).not.toContain('alan');
    await page.getByRole('button', { name: /^Verify access of alan/ }).click();
    await see('From push to what is visible');
    // The steps of the chain: push, stored, applied, visible.
    expect(await page.locator('.access tbody tr').count()).toBe(4);
    expect(await accessFaults(page)).toEqual([]);
    await shoot('person');
    await open('doctor');
    await page.getByRole('button', { name: 'Examine' }).click();
    await see(/a writable primary/);
    await shoot('doctor');
  }, 60_000);

  test("on the operators' page a long plan filtered by name and action stays filtered when another operation ends", async () => {
    await rig.operator.post('/hold', {});
    for (let number = 0; number < 12; number++) await rig.bridge.idp.createUser(`new${number}@acme.example`);
    await open('overview');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByLabel('Name or value').fill('NEW11@');
    const lines = page.locator('.diff ol > li');
    await eventually(
      'one is left',
      async () => (await lines.count()) > 0 && (await lines.count()) < 12,
      20_000,
    );
    const shown = await lines.allInnerTexts();
    expect(shown.every((text) => text.includes('new11@acme.example'))).toBe(true);
    await see(/\b12 create\b/);
    expect(await accessFaults(page)).toEqual([]);
    await shoot('comparison-filtered');
    const { body } = await rig.operator.post('/reconcile', {});
    await rig.operator.ended(body.id, 60_000);
    await see('reconcile');
    await page.getByLabel('Name or value').fill('');
    await page.getByLabel('Action').selectOption('create');
    await eventually('creations only', async () => (await lines.count()) === 12);
    await rig.operator.post('/release', {});
    await rig.untilSynced();
  }, 90_000);

  test("held deactivations approved on the operators' page are carried out at the platform and recorded under the operator's name", async () => {
    await open('approvals');
    await see(/accounts to deactivate/);
    const [held] = (await rig.operator.get('/approvals')).body;
    // The command gives the exact time too; the page has it as a tooltip.
    const expiry = expiryText(held.expiresAt, held.leftMs, held.endOfHold).replace(
      / \S+ \((in \d+ h)[^)]*\)/,
      ' $1',
    );
    expect(await page.locator('main').innerText()).toContain(`, ${expiry}`);
    await shoot('approvals');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await shoot('approve');
    await page.locator('dialog').getByRole('button', { name: 'Approve' }).click();
    await see('Nothing waits for a decision');
    const decided = await page.locator('section.card li').first().innerText();
    expect([decided.includes('default → main'), decided.includes(held.id)]).toEqual([true, true]);
    await eventually('all leavers are closed', async () =>
      (await rig.bridge.platform.state()).users.every(
        ({ userName, active }) => !PEOPLE.slice(4).includes(userName) || !active,
      ),
    );
    expect((await rig.operator.get('/approvals?all=true')).body[0]).toMatchObject({
      state: 'approved',
      by: 'Alice',
    });
    expect(faults).toEqual([]);
  }, 60_000);

  test('after signing out, neither the page nor the session storage of the tab holds any data', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await see('For operators of this bridge.');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(await page.textContent('main')).not.toContain('acme.example');
  }, 60_000);
});
