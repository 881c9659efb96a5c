// Tests that pages of the documentation site are usable by keyboard and screen reader, at three widths, in light and dark.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser } from 'playwright-core';
import { describeWith, findTool } from '../../support/needs.ts';
import { accessFaults } from '../admin/axe.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CHROMIUM = findTool('chromium', 'chromium-browser', 'google-chrome', 'chromium-headless-shell');
/** Pages with the longest words, tables, code and images. */
const PAGES = [
  'index',
  'admin',
  'deploy',
  'commands',
  'settings-reference',
  'platform-coverage',
  'adr/index',
];
const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-site-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeWith(CHROMIUM !== undefined, 'Chromium')('in a browser', () => {
  let browser: Browser;
  const addressOf = (page: string): string => pathToFileURL(join(folder, `${page}.html`)).href;

  beforeAll(async () => {
    spawnSync(process.execPath, [join(ROOT, '.ci/site/build.mjs'), '--output', folder]);
    browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: ['--no-sandbox', '--disable-gpu'],
    });
  }, 60_000);
  afterAll(() => browser.close());

  test.each([
    [390, 'light'],
    [390, 'dark'],
    [1000, 'light'],
    [1440, 'dark'],
    [1440, 'light'],
  ] as const)(
    'on the documentation site, %i pixels wide and %s, axe finds no accessibility fault and no page scrolls sideways',
    async (width, colorScheme) => {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
      // Each expectation has the name of the page, so that a failure shows it.
      for (const name of PAGES) {
        await page.goto(addressOf(name));
        expect([name, await accessFaults(page)]).toEqual([name, []]);
        expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, width]);
      }
      await page.close();
    },
    120_000,
  );

  test('on the documentation site the first Tab reaches the link to the content, and Enter goes there', async () => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(addressOf('runbook'));
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await page.close();
  });
});
