// Tests that each view of the operators' page is usable by keyboard and screen reader, at three widths, in light and
// dark, empty and with long names. axe-core checks each view in Chromium.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWith, findTool } from '../../support/needs.ts';
import { accessFaults } from './axe.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const CHROMIUM = findTool('chromium', 'chromium-browser', 'google-chrome', 'chromium-headless-shell');
const SHOTS = process.env.ADMIN_SCREENSHOTS;
/** 300 characters without a place to break, right-to-left script, and markup. */
const NAMES = [
  `${'x'.repeat(280)}@long-name.example`,
  'مريم.الحسيني@acme.example',
  'שרה-כהן@acme.example',
  '<img src=x onerror=alert(1)>@acme.example',
];
let rig: AdminRig;
let browser: Browser;

async function signIn(
  width: number,
  colorScheme: 'light' | 'dark',
): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.newPage({
    viewport: { width, height: 900 },
    colorScheme,
    // A transition in progress would be measured as low contrast.
    reducedMotion: 'reduce',
  });
  page.setDefaultTimeout(10_000);
  const faults: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
  page.on('pageerror', (error) => void faults.push(error.message));
  await page.goto(`http://127.0.0.1:${rig.bridge.app.port}/admin/`);
  await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForSelector('main[data-view=overview]');
  return { page, faults };
}

async function lookAt(page: Page, name: string): Promise<string[]> {
  if (SHOTS) {
    mkdirSync(SHOTS, { recursive: true });
    await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
  }
  const { width } = page.viewportSize() ?? { width: 0 };
  const wide = (await page.evaluate<number>('document.documentElement.scrollWidth')) - width;
  const raw = (await page.innerText('main')).match(/\b(null|undefined|NaN)\b|\[object /g) ?? [];
  return [
    ...(await accessFaults(page)),
    ...(wide > 0 ? [`${wide} px wider than the screen`] : []),
    ...raw.map((word) => `shows ${word}`),
  ];
}

/** Checks every view that the navigation lists. */
async function lookAtAll(page: Page, about: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  const views = await page.evaluate<string[]>(
    `[...document.querySelectorAll('nav a[data-view]')].map((each) => each.dataset.view)`,
  );
  expect(views.length).toBeGreaterThan(5);
  for (const view of views) {
    await page.click(`nav a[data-view="${view}"]`);
    await page.waitForSelector(`main[data-view="${view}"]`);
    // The stream of the live status keeps the network busy, so the test waits for the plots and not for an idle network.
    await eventually('all plots are drawn', () =>
      page.evaluate<boolean>(
        `[...document.querySelectorAll('figure.plot')].every((each) => each.querySelector('.uplot'))`,
      ),
    );
    const faults = await lookAt(page, `${view}-${about}`);
    if (faults.length > 0) found[view] = faults;
  }
  return found;
}

const SCREENS = [
  [360, 'light'],
  [820, 'dark'],
  [1400, 'light'],
] as const;

describeWith(CHROMIUM !== undefined, 'Chromium')("accessibility of the operators' page", () => {
  beforeAll(async () => {
    rig = await openAdmin({
      configure: (config) => {
        if (config.targets.main) config.targets.main.guard.deactivate = { count: 1, percent: 100 };
      },
    });
    browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
    });
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await rig.bridge.stop();
  });

  test("the sign-in form of the operators' page passes the accessibility checks of axe-core", async () => {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${rig.bridge.app.port}/admin/`);
    await page.getByLabel('Admin token').waitFor();
    expect(await lookAt(page, 'sign-in-empty')).toEqual([]);
    await page.close();
  });

  test.each(SCREENS)(
    "with an empty bridge every view of the operators' page passes axe-core at a width of %i px, %s",
    async (width, scheme) => {
      const { page, faults } = await signIn(width, scheme);
      expect(await lookAtAll(page, `empty-${width}`)).toEqual({});
      expect(faults).toEqual([]);
      await page.close();
    },
  );

  describe('a bridge with long names, held changes and dead letters', () => {
    beforeAll(async () => {
      const { idp } = rig.bridge;
      const ids = await Promise.all(NAMES.map((name) => idp.createUser(name)));
      await idp.createGroup(`Analysts ${'of everything '.repeat(18)}`, ids);
      await idp.createGroup('system:all', ids.slice(0, 2));
      await rig.untilSynced();
      for (const id of ids) await idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
      await rig.untilSynced();
    }, 60_000);

    test.each(SCREENS)(
      "with long names every view of the operators' page passes axe-core at a width of %i px, %s",
      async (width, scheme) => {
        const { page, faults } = await signIn(width, scheme);
        expect(await lookAtAll(page, `full-${width}`)).toEqual({});
        expect(faults).toEqual([]);
        await page.close();
      },
    );
  });
});
