// Tests the mapping workbench on the operators' page in Chromium.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { parse } from 'yaml';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWith, findTool } from '../../support/needs.ts';
import { accessFaults } from './axe.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const CHROMIUM = findTool('chromium', 'chromium-browser', 'google-chrome', 'chromium-headless-shell');
const SHOTS = process.env.ADMIN_SCREENSHOTS;
const LONG = `${'x'.repeat(280)}@long-name.example`;
const ARABIC = 'مريم.الحسيني@acme.example';
let rig: AdminRig;
let browser: Browser;
let page: Page;
const faults: string[] = [];

const cells = (caption: string, label: string): Promise<string[]> =>
  page
    .locator('table', { has: page.locator(`caption:text-is("${caption}")`) })
    .locator(`td[data-label="${label}"]`)
    .allInnerTexts();
const attributes = () => page.getByLabel('Attributes', { exact: true });

describeWith(CHROMIUM !== undefined, 'Chromium')('the mapping workbench', () => {
  beforeAll(async () => {
    rig = await openAdmin({
      configure: ({ targets: { main } }) => {
        if (main) main.attributes = { region: { type: 'string', from: 'title', onEmpty: 'clear' } };
      },
    });
    await rig.bridge.idp.createUser(LONG, { title: 'شمال' });
    await rig.bridge.idp.createUser(ARABIC, { title: 'south', nickName: '<b>bold</b>' });
    await rig.untilSynced();
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
    await page.getByRole('link', { name: 'Mapping' }).press('Enter');
    await page.waitForSelector('main[data-view=mapping]');
  }, 90_000);
  afterAll(async () => {
    await browser.close();
    await rig.bridge.stop();
  });

  test('while an operator types a mapping, the page shows its result for one person and counts its effect on all users', async () => {
    expect(JSON.parse(await attributes().inputValue())).toEqual({
      region: { type: 'string', from: 'title', onEmpty: 'clear' },
    });
    await page.getByLabel('Person', { exact: true }).fill(ARABIC);
    await eventually('the value', async () => (await cells('Values', 'Desired')).includes('south'));
    expect(page.url()).not.toContain('acme');
    await attributes().fill('{ "region": ');
    await page.getByText('This is no JSON').waitFor();
    const expression = '$uppercase(title) & "${x}"';
    await attributes().fill(
      JSON.stringify({
        region: { type: 'string', expression },
        nick: { type: 'string', from: 'nickName' },
        level: { type: 'number', from: 'title' },
        colour: { type: 'colour', from: 'title' },
      }),
    );
    await page.getByText('/colour/type').waitFor();
    expect(await cells('Values', 'Desired')).toEqual(['SOUTH${x}', '<b>bold</b>', '∅']);
    expect(await cells('Values', 'Last applied')).toEqual(['south', '∅', '∅']);
    expect((await cells('Values', 'Result'))[2]).toContain('cannot become a number');
    expect(await page.getByLabel('JSON of the pushed resource').innerText()).toContain(ARABIC);

    await page.getByRole('button', { name: 'Effect on everybody' }).press('Enter');
    await page.getByText('2 people are affected, of 2 compared.').waitFor();
    expect(await cells('By attribute', 'Changed')).toEqual(['2', '1', '0']);
    expect(await cells('By attribute', 'Faulty')).toEqual(['0', '0', '2']);

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy as settings' }).press('Enter');
    await page.getByText('Copied: put it below targets.main').waitFor();
    const settings = parse(await page.evaluate<string>('navigator.clipboard.readText()'));
    expect(settings.attributes.region.expression).toBe('$uppercase(title) & "$${x}"');
    expect(Object.keys(settings.attributes)).toEqual(['region', 'nick', 'level', 'colour']);
  }, 60_000);

  test.each([
    [360, 'dark'],
    [1280, 'light'],
  ] as const)(
    'at a width of %i px, %s, the mapping view passes axe-core and is not wider than the screen',
    async (width, colorScheme) => {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await page.getByLabel('Person', { exact: true }).fill(LONG);
      // By the mapping that the test before has typed.
      await eventually('the value', async () => (await cells('Values', 'Desired')).includes('شمال${x}'));
      await page.getByRole('button', { name: 'Effect on everybody' }).click();
      await page.getByText('2 people are affected').waitFor();
      if (SHOTS) {
        mkdirSync(SHOTS, { recursive: true });
        await page.screenshot({ path: join(SHOTS, `mapping-${width}-${colorScheme}.png`), fullPage: true });
      }
      const wide = (await page.evaluate<number>('document.documentElement.scrollWidth')) - width;
      expect([await accessFaults(page), Math.max(0, wide), faults]).toEqual([[], 0, []]);
    },
    60_000,
  );
});
