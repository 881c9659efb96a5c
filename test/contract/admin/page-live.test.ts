// Tests the overview of the operators' page in Chromium against a process of its own: plots, live changes in place, and a
// process that hangs.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium, type Browser, type Page } from 'playwright-core';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { startBridgeProcess, type BridgeProcess } from '../../support/bridge-process.ts';
import { ADMIN_TOKEN, TOKEN } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { createIdp, type Idp } from '../../support/idp.ts';
import { describeWith, findTool } from '../../support/needs.ts';
import { createPlatformView } from '../../support/platform-view.ts';
import { settingsFor } from '../../support/settings.ts';
import { accessFaults } from './axe.ts';

const CHROMIUM = findTool('chromium', 'chromium-browser', 'google-chrome', 'chromium-headless-shell');
const SHOTS = process.env.ADMIN_SCREENSHOTS;
/** Scripts of the page, compressed. */
const MOST_BYTES = 150_000;
let sandbox: Sandbox;
let bridge: BridgeProcess;
let idp: Idp;

beforeAll(async () => {
  sandbox = await startSandbox();
  const reconcile = { schedule: '30 2 * * *', timezone: 'UTC' };
  bridge = await startBridgeProcess(settingsFor(sandbox, {}, { reconcile }));
  idp = createIdp(bridge.baseUrl, TOKEN);
}, 90_000);
afterAll(async () => {
  await bridge.stop();
  await sandbox.stop();
});

test("all scripts that the operators' page loads take less than 150 kB compressed", async () => {
  const read = async (path: string): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${bridge.port}/admin/${path}`);
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.text();
  };
  const page = await read('');
  const waiting = [...page.matchAll(/src="([\w.]+\.js)"/g)].map(([, name = '']) => name);
  expect(waiting).toContain('uPlot.iife.min.js');
  const sizes = new Map<string, number>();
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (sizes.has(name)) continue;
    const text = await read(name);
    sizes.set(name, gzipSync(text).length);
    waiting.push(...[...text.matchAll(/from '\.\/([\w.-]+\.js)'/g)].map(([, file = '']) => file));
  }
  expect([...sizes.keys()]).toEqual(
    expect.arrayContaining(['page.js', 'overview.js', 'plots.js', 'live.js']),
  );
  expect([...sizes.values()].reduce((sum, each) => sum + each, 0)).toBeLessThan(MOST_BYTES);
});

describeWith(CHROMIUM !== undefined, 'Chromium')('in a browser', () => {
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];
  const shoot = async (name: string): Promise<void> => {
    if (!SHOTS) return;
    mkdirSync(SHOTS, { recursive: true });
    await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
  };
  const live = (text: string | RegExp, timeout = 10_000): Promise<void> =>
    page.locator('#live').getByText(text).waitFor({ timeout });
  const figure = (name: string): Promise<string> =>
    page.locator('.figures div', { hasText: name }).first().locator('dd').innerText();
  const plot = (name: string) => page.locator('figure.plot', { hasText: name });

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
    });
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(15_000);
    page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
    page.on('pageerror', (error) => void faults.push(error.message));
    await page.goto(`http://127.0.0.1:${bridge.port}/admin/`);
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForSelector('main[data-view=overview]');
  }, 60_000);
  afterAll(() => browser.close());

  test("the operators' page draws six plots of pushes, calls and sync under its content security policy, and shows the values of a plot also as text", async () => {
    await live('Live');
    await eventually('six plots are drawn', async () => (await page.locator('.plot .uplot').count()) === 6);
    await page.getByText(/Next reconcile of the schedule/).waitFor();
    await shoot('overview-empty');
    await Promise.all(Array.from({ length: 30 }, (_, index) => idp.createUser(`p${index}@acme.example`)));
    await idp.send('POST', '/Users', { userName: '' });
    await eventually(
      'the pushes are in the plot',
      async () =>
        /Stored now [\d.]+, at most [1-9]/.test(
          (await plot('Pushes').locator('.canvas').getAttribute('aria-label')) ?? '',
        ),
      40_000,
    );
    await plot('Pushes').getByText('Figures').click();
    const rows = plot('Pushes').locator('tbody tr');
    await rows.first().waitFor();
    // The number of rows of every table of figures (ROWS in src/ui/plots.js).
    expect(await rows.count()).toBe(12);
    expect(await rows.last().innerText()).toMatch(/[1-9]/);
    // The canvas must show a line too: the text alone would not prove that the plot is drawn.
    const drawn = await page.evaluate<number>(`(() => {
      const canvas = document.querySelector('.plot canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return data.filter((value, at) => at % 4 === 3 && value > 200).length;
    })()`);
    expect(drawn).toBeGreaterThan(50);
    expect(await plot('Calls to the platform').innerText()).toContain('of at most 1,000');
    expect(await accessFaults(page)).toEqual([]);
    await shoot('overview-full');
    expect(faults).toEqual([]);
  }, 90_000);

  test("the range chosen for the plots is kept in the page's address over a reload, and each range is drawn", async () => {
    for (const [name, range, words] of [
      ['Day', '1d', 'the last 24 hours'],
      ['Month', '30d', 'the last 30 days'],
    ] as const) {
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('heading', { name: words }).waitFor();
      expect(page.url()).toContain(`#/overview?range=${range}`);
    }
    await page.reload();
    await page.getByRole('heading', { name: 'the last 30 days' }).waitFor();
    expect(await page.getByRole('button', { name: 'Month' }).getAttribute('aria-pressed')).toBe('true');
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    for (const width of [360, 820, 1400]) {
      await page.setViewportSize({ width, height: 900 });
      await eventually('the plots have the width of their places', async () =>
        page.evaluate<boolean>(`[...document.querySelectorAll('.canvas')].every((each) =>
          each.querySelector('.uplot')?.offsetWidth === each.clientWidth)
          && document.documentElement.scrollWidth <= ${width}`),
      );
      expect(await accessFaults(page)).toEqual([]);
      await shoot(`overview-dark-${width}`);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.getByRole('button', { name: 'Hour' }).click();
    expect(faults).toEqual([]);
  }, 60_000);

  test("when the status changes, the operators' page keeps the focused button focused and an open table open", async () => {
    await live('Live');
    await page.getByRole('button', { name: 'Compare' }).focus();
    await plot('Backlog').getByText('Figures').click();
    await page.getByRole('button', { name: 'Compare' }).focus();
    await page.evaluate(
      `document.activeElement.mine = true; document.querySelector('.targets .card').mine = true`,
    );
    const before = await figure('Linked, with nothing open');
    await idp.createUser('late@acme.example');
    await eventually(
      'the new user is counted',
      async () => (await figure('Linked, with nothing open')) !== before,
    );
    expect(
      await page.evaluate(`[document.activeElement.mine, document.querySelector('.targets .card').mine,
        [...document.querySelectorAll('.plot details')].filter((each) => each.open).length]`),
    ).toEqual([true, true, 1]);
  }, 60_000);

  test("while a target is on hold, the operators' page offers Release in place of Hold, and shows how many of the waiting users are loaded", async () => {
    await page.getByRole('button', { name: 'Hold', exact: true }).click();
    await page.locator('dialog').getByRole('button', { name: 'Hold' }).click();
    await page.getByRole('button', { name: 'Release' }).waitFor();
    await Promise.all(Array.from({ length: 120 }, (_, index) => idp.createUser(`q${index}@acme.example`)));
    await page.getByText(/^0 of 120 loaded, .*the hold stops it$/).waitFor();
    expect(await page.locator('.load progress').getAttribute('max')).toBe('120');
    // Levels are read every few seconds; during the hold the backlog lasts long enough to be read.
    await eventually(
      'the backlog is in the plot',
      async () =>
        /at most 120/.test((await plot('Backlog').locator('.canvas').getAttribute('aria-label')) ?? ''),
      40_000,
    );
    await page.getByRole('button', { name: 'Release' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Release' }).click();
    await page.getByRole('button', { name: 'Hold', exact: true }).waitFor();
    await eventually('all are applied', async () => (await figure('Not applied')) === '0');
    expect(await page.locator('.load').count()).toBe(0);
  }, 90_000);

  test("while the platform answers with errors, the plot of platform calls on the operators' page counts failed calls", async () => {
    const platform = createPlatformView(sandbox.ready.controlUrl);
    await platform.control('PATCH', '/faults', { status5xx: { share: 1 } });
    await idp.createUser('stuck@acme.example');
    await eventually(
      'failed calls are in the plot',
      async () =>
        /Failed now [\d.–]+, at most (0\.[1-9]|[1-9])/.test(
          (await plot('Calls to the platform').locator('.canvas').getAttribute('aria-label')) ?? '',
        ),
      40_000,
    );
    await shoot('overview-failing');
    await platform.control('PATCH', '/faults', {});
  }, 60_000);

  test("when web pages answer at the platform's address, the operators' page shows that fault and advises to check the target's url or a proxy", async () => {
    const platform = createPlatformView(sandbox.ready.controlUrl);
    await platform.control('PATCH', '/faults', { htmlAnswer: { share: 1 } });
    await idp.createUser('page@acme.example');
    await page.getByText('Web pages answer', { exact: true }).waitFor();
    await page
      .getByText(
        /The platform answers with web pages \(a wrong url, or a proxy\): .*check targets.main.url, or a proxy/,
      )
      .waitFor();
    await platform.control('PATCH', '/faults', {});
  }, 60_000);

  test('the overview and the people view show within six seconds that the process hangs, and show Live when it answers again', async () => {
    await live('Live');
    const pid = bridge.pid() ?? 0;
    const hangAndReturn = async (shot: string): Promise<void> => {
      process.kill(pid, 'SIGSTOP');
      try {
        const hungAt = Date.now();
        await live(/No answer for \d+ s/, 7000);
        expect(Date.now() - hungAt).toBeLessThan(6000);
        await shoot(shot);
        expect(await page.locator('#live-spoken').innerText()).toBe('The bridge does not answer.');
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await live('Live');
    };
    await hangAndReturn('overview-hung');
    expect(await page.locator('.stale').isVisible()).toBe(false);
    await page.click('nav a[data-view=people]');
    await page.waitForSelector('main[data-view=people]');
    await hangAndReturn('people-hung');
  }, 60_000);

  test("after the sign-out the operators' page shows the sign-in form and no live status", async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Admin token').waitFor();
    expect(await page.locator('#live').isVisible()).toBe(false);
  });
});
