// Tests the log and the acts on the operators' page in Chromium.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { openDesiredStates } from '../../../src/app/open.ts';
import { untilReady } from '../../../src/directory/redis/connection.ts';
import { ACTS, INTERFACES } from '../../../src/directory/logs/acts.ts';
import { LOG_ACTIONS, LOG_STATUSES, type LogEntry } from '../../../src/directory/logs/provisioning-log.ts';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWith, findTool } from '../../support/needs.ts';
import { seedLog } from '../../support/seed-log.ts';
import { accessFaults } from './axe.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const CHROMIUM = findTool('chromium', 'chromium-browser', 'google-chrome', 'chromium-headless-shell');
const SHOTS = process.env.ADMIN_SCREENSHOTS;
const SEEDED = 2300;
const LONG = `${'x'.repeat(280)}@long-name.example`;
const ARABIC = 'مريم.الحسيني@acme.example';
const TAKEN = 'taken@acme.example';
const TAKEN_REFUSAL = {
  reason: 'TakenByConnection',
  message: 'the account belongs to eve: order scim-bridge links forget User:eve0, then retry',
};
const ADA = 'ada.lovelace@acme.example';
let rig: AdminRig;
let browser: Browser;
let page: Page;
let ada: string;
const faults: string[] = [];

/** Fills the log with many old entries, among them some of people with unusual names, and with new ones of a refused group. */
async function fill(): Promise<void> {
  const { redis } = openDesiredStates(rig.bridge.config);
  await untilReady(redis, 5000);
  const base = `${rig.bridge.config.redis.prefix}:{default}:`;
  const entry = (serial: number): Partial<LogEntry> =>
    serial % 500 === 3
      ? { ref: 'User:rtl0000000000000000', name: ARABIC, status: 'held', reason: 'Held', message: LONG }
      : serial === 4
        ? { ref: 'User:tak0000000000000000', name: TAKEN, status: 'failure', ...TAKEN_REFUSAL }
        : {};
  const from = Date.now() - 3 * 86_400_000;
  await seedLog(redis, { base, target: 'main', count: SEEDED, from, stepMs: 60_000, entry });
  redis.disconnect();
  const { idp } = rig.bridge;
  const ids = await Promise.all([ADA, LONG, ARABIC].map((name) => idp.createUser(name)));
  ada = ids[0] ?? '';
  await idp.createGroup('system:all', ids);
  await idp.createGroup('Analysts', ids);
  await rig.untilSynced();
  await rig.operator.post('/resync', { by: ARABIC, note: LONG });
  await rig.operator.post('/resync', { by: 'bob' });
  await rig.untilSynced();
}

/** Opens a view, and waits until it is drawn and its first entries are loaded. */
const open = async (hash: string): Promise<void> => {
  // The heading of the view before is labelled, so that the wait ends with the heading of the new view.
  await page.evaluate(`document.querySelector('main h1').dataset.old = 'yes';
    history.replaceState(null, '', '#/');
    location.hash = ${JSON.stringify(hash)}`);
  await page.waitForSelector('main h1:not([data-old])');
  await drawn();
};
const drawn = (): Promise<unknown> =>
  eventually(
    'the entries are read',
    async () => !(await page.locator('#entries > [role=status]').innerText()).endsWith('…'),
  );
const see = async (text: string | RegExp): Promise<void> =>
  void (await page.getByText(text).first().waitFor({ timeout: 10_000 }));
const rows = (): Promise<number> => page.locator('#entries > table > tbody > tr').count();
const cellsIn = (label: string): Promise<string[]> =>
  page.locator(`#entries > table > tbody > tr > td[data-label="${label}"]`).allInnerTexts();
const showFound = async (): Promise<void> => {
  const show = page.getByRole('button', { name: 'Show', exact: true });
  await Promise.all([page.waitForResponse(/\/search$/), show.click()]);
  await drawn();
};
const hash = (): Promise<string> => page.evaluate<string>('location.hash');
const shoot = async (name: string): Promise<void> => {
  if (!SHOTS) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
};
/**
 * Returns what is wrong in the view: findings of axe-core, horizontal overflow, and values such as `undefined`
 * shown as text.
 */
async function lookAt(name: string): Promise<string[]> {
  await shoot(name);
  const { width } = page.viewportSize() ?? { width: 0 };
  const wide = (await page.evaluate<number>('document.documentElement.scrollWidth')) - width;
  const raw = (await page.innerText('main')).match(/\b(null|undefined|NaN|Invalid Date)\b|\[object /g) ?? [];
  return [...(await accessFaults(page)), ...(wide > 0 ? [`${wide} px too wide`] : []), ...raw];
}

describeWith(CHROMIUM !== undefined, 'Chromium')('the logs on the page', () => {
  beforeAll(async () => {
    rig = await openAdmin();
    browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
    });
    page = await browser.newPage({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
    page.setDefaultTimeout(10_000);
    page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
    page.on('pageerror', (error) => void faults.push(error.message));
    await page.goto(`http://127.0.0.1:${rig.bridge.app.port}/admin/`);
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForSelector('main[data-view=overview]');
    await open('#/log');
    expect([await lookAt('log-empty'), await rows()]).toEqual([[], 0]);
    await see('Nothing matches');
    await open('#/acts');
    expect([await lookAt('acts-empty'), await rows()]).toEqual([[], 0]);
    await fill();
  }, 90_000);
  afterAll(async () => {
    await browser.close();
    await rig.bridge.stop();
  });

  test("filters of the log view are in the page's address, and opening the address shows the same entries", async () => {
    await open('#/log');
    await page.getByText('Status: all').click();
    await page.getByLabel('failure', { exact: true }).check();
    await page.getByLabel('held', { exact: true }).check();
    await page.getByLabel('Time').selectOption('7d');
    await page.getByLabel('Target').selectOption('main');
    await showFound();
    await see(/entries, and nothing older/);
    expect(await hash()).toBe('#/log?target=main&status=failure&status=held&range=7d');
    const before = await cellsIn('When');
    expect(new Set(await cellsIn('Status'))).toEqual(new Set(['failure', 'held']));
    await page.reload();
    await page.waitForSelector('main[data-view=log]');
    await drawn();
    expect(await cellsIn('When')).toEqual(before);
    await see('Status: failure, held');
    await page.getByLabel('Time').selectOption('own');
    await page.getByLabel('From', { exact: true }).fill('2026-01-01T00:00');
    await page.getByLabel('Until', { exact: true }).fill('2026-01-01T00:01');
    await showFound();
    await see('Nothing matches');
    expect(await hash()).toContain('range=own&from=20');
    await page.goBack();
    await eventually(
      'the filters before are back',
      async () => (await cellsIn('When')).length === before.length,
    );
  }, 60_000);

  test("the log view filtered by a person's name has the ref in the page's address, and not the name", async () => {
    await open('#/log');
    await page.getByLabel('Person or group').fill(ADA);
    await showFound();
    await eventually('the ref is in the address', async () =>
      (await hash()).includes(`resource=User%3A${ada}`),
    );
    expect(decodeURIComponent(page.url())).not.toContain('lovelace');
    await see('3 entries, and nothing older.');
    expect((await cellsIn('Action')).toSorted()).toEqual(['activate', 'addMembers', 'create']);
    await page.getByLabel('Person or group').fill('nobody-is-called-so');
    await showFound();
    await see('Not known');
    // Chromium writes the 404 to its console, which is no error of the page.
    faults.length = 0;
  }, 60_000);

  test('the details dialog of a log entry shows its steps, values and ids, and opens and closes by keyboard', async () => {
    await open(`#/log?resource=User:${ada}`);
    const details = page.getByRole('button', { name: `Details: ${ADA}, create` });
    await details.focus();
    await page.keyboard.press('Enter');
    const dialog = page.locator('dialog[open]');
    const text = await dialog.innerText();
    for (const part of [
      'write to the platform',
      'userName',
      ADA,
      'Correlation id',
      'Id at the platform',
      ada,
    ])
      expect(text).toContain(part);
    expect(
      await dialog.getByRole('link', { name: 'State of this person or group' }).getAttribute('href'),
    ).toBe(`#/person/${ada}`);
    expect(await lookAt('log-entry')).toEqual([]);
    await page.keyboard.press('Escape');
    await eventually('the dialog is gone', async () => (await page.locator('dialog').count()) === 0);
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toContain(ADA);

    await open('#/log?status=failure');
    await page.getByRole('button', { name: 'Details: system:all, create' }).first().press('Enter');
    await see('find the counterpart');
    expect(await page.locator('dialog .refusal').innerText()).toContain('identity provider');
    await shoot('log-entry-refused');
    await page.getByRole('link', { name: 'All its entries' }).click();
    await eventually('the dialog is left', async () => (await page.locator('dialog').count()) === 0);
    await see(/entries, and nothing older/);
    await eventually('only its entries are shown', async () => {
      const names = new Set(await cellsIn('Person or group'));
      return names.size === 1 && names.has('system:all');
    });
  }, 60_000);

  test('advice to run a command is shown in the log view and in the details of the entry without the word `scim-bridge`', async () => {
    await open('#/log?status=failure');
    const words = 'the account belongs to eve: order the command links forget User:eve0, then retry';
    expect(await cellsIn('Summary')).toContain(words);
    await page.getByRole('button', { name: `Details: ${TAKEN}` }).press('Enter');
    await see('find the counterpart');
    const text = await page.locator('dialog[open]').innerText();
    // The details have the words twice.
    expect(text.split(words)).toHaveLength(3);
    expect(text).not.toContain('scim-bridge');
    await page.keyboard.press('Escape');
  }, 60_000);

  test('older log entries are appended page by page, and the page keeps at most 2,000 rows', async () => {
    await open('#/log');
    const more = page.getByRole('button', { name: 'Show older' });
    await eventually('the first page', async () => (await rows()) === 100);
    expect(await lookAt('log-full')).toEqual([]);
    await more.focus();
    for (let pages = 2; pages <= 20; pages++) {
      await page.keyboard.press('Enter');
      await eventually('the next page', async () => (await rows()) === pages * 100);
    }
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Show older');
    await more.press('Enter');
    await see('The newest 100 entries are no longer on the page.');
    expect(await rows()).toBe(2000);
    await page.getByRole('button', { name: 'Back to the newest' }).click();
    await eventually('the newest are back', async () => (await rows()) === 100);
  }, 90_000);

  test('after ten log requests without a match, the log view shows how far back it has searched, and `Search further` continues from there', async () => {
    let requests = 0;
    await page.route('**/log/search', async (route) => {
      requests += 1;
      const headers = { 'content-type': 'application/json', 'x-next-before': 'default.main.1700000000000-0' };
      await route.fulfill({ headers, body: '[]' });
    });
    await open('#/log?status=retry');
    await see(/^0 entries found\. Searched back to 14 Nov 2023/);
    // After ten pages without a match the view stops and offers to search further.
    expect(requests).toBe(10);
    await shoot('log-searched');
    await page.unroute('**/log/search');
    await page.getByRole('button', { name: 'Search further' }).click();
    await see('Nothing matches');
  }, 60_000);

  test('when the log cannot be read, the log view shows that the bridge does not answer, and a button to try again', async () => {
    await page.route('**/log/search', (route) => route.abort());
    await open('#/log?range=1h');
    await see(/^The bridge does not answer\.$/);
    expect(await lookAt('log-failing')).toEqual([]);
    await page.unroute('**/log/search');
    await page.getByRole('button', { name: 'Try again' }).click();
    await eventually('the entries are there', async () => (await rows()) > 0);
    faults.length = 0;
  }, 60_000);

  test('the log view saves the filtered entries as CSV and as NDJSON', async () => {
    await open(`#/log?resource=User:${ada}`);
    const saved = async (button: string): Promise<[name: string, text: string]> => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: button, exact: true }).click(),
      ]);
      return [download.suggestedFilename(), readFileSync(await download.path(), 'utf8')];
    };
    const [csvName, csv] = await saved('CSV');
    expect(csvName).toMatch(/^provisioning-log-\d{4}-\d\d-\d\d\.csv$/);
    expect(csv).toMatch(/^\ufeffid,activityDateTime,/);
    expect(csv.trim().split('\n')).toHaveLength(4);
    await see('Saved.');
    const [, ndjson] = await saved('NDJSON');
    expect(
      ndjson
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).operation),
    ).toHaveLength(3);
    await open('#/acts');
    const [name, orders] = await saved('CSV');
    expect(name).toMatch(/^acts-/);
    expect(orders).toContain(`,resync,bob,admin API,`);
  }, 60_000);

  test('the page shows and filters audit entries, and its address contains no name', async () => {
    await open('#/acts');
    expect(await cellsIn('Operator')).toEqual(['bob', ARABIC]);
    await page.getByLabel('Operator').fill('BOB');
    await page.getByText('Order: all').click();
    await page.getByLabel('resync', { exact: true }).check();
    await showFound();
    await see('1 entry, and nothing older.');
    expect(await cellsIn('Operator')).toEqual(['bob']);
    expect(await hash()).toBe('#/acts?action=resync');
    await page.getByRole('button', { name: 'Verify' }).click();
    await see('No order was altered or taken out.');
    await open('#/acts?via=page');
    await see('Nothing was ordered');
  }, 60_000);

  test('the log view offers every action and status as a filter, and the view of orders every kind of order and interface', async () => {
    const offered = async (address: string): Promise<string[]> => {
      await open(address);
      return page.evaluate<string[]>(
        `[...document.querySelectorAll('.choices input[type=checkbox]')].map((box) => box.value)`,
      );
    };
    expect(await offered('#/log')).toEqual([...LOG_ACTIONS, ...LOG_STATUSES]);
    expect(await offered('#/acts')).toEqual([...ACTS, ...INTERFACES]);
  }, 60_000);

  test.each([
    [360, 'dark'],
    [768, 'light'],
    [1280, 'dark'],
  ] as const)(
    'at a width of %i px, %s, the log views and a dialog pass axe-core and are not wider than the screen',
    async (width, colorScheme) => {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      const found: Record<string, string[]> = {};
      for (const [name, address] of Object.entries({
        log: '#/log',
        held: '#/log?status=held',
        acts: '#/acts',
      })) {
        await open(address);
        await eventually('entries are there', async () => (await rows()) > 0);
        await page.locator('summary').first().click();
        found[name] = await lookAt(`${name}-${width}-${colorScheme}`);
      }
      await open('#/log?status=held');
      await page
        .getByRole('button', { name: /^Details/ })
        .first()
        .click();
      found.entry = await lookAt(`entry-${width}-${colorScheme}`);
      await page.keyboard.press('Escape');
      expect(found).toEqual({ log: [], held: [], acts: [], entry: [] });
      expect(faults).toEqual([]);
    },
    90_000,
  );
});
