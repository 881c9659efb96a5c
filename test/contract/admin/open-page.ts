// Opens the operators' page of a bridge in Chromium, signed in with the admin token.
import { chromium, type Browser, type Page, type Route } from 'playwright-core';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { findTool } from '../../support/needs.ts';
import type { AdminRig } from './rig.ts';

export const PAGE_BROWSER = findTool(
  'chromium',
  'chromium-browser',
  'google-chrome',
  'chromium-headless-shell',
);

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: PAGE_BROWSER ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
  });

export interface OpenPage {
  page: Page;
  /** Fills in the form. */
  signIn(): Promise<void>;
  /** Opens a view by the navigation. */
  open(view: string): Promise<void>;
  /** Replaces the answers to requests whose path below /admin/v1 matches, until `undo` of the returned object is called. */
  answer(
    path: RegExp,
    give: Parameters<Route['fulfill']>[0] | 'none',
  ): Promise<{ undo: () => Promise<void> }>;
  /** Waits for the result of an action that the page tells. @returns its text */
  told(): Promise<string>;
}

/** Opens the page in a context of its own and signs in as Alice. */
export async function openPage(browser: Browser, rig: AdminRig, width = 1200): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const signIn = async (): Promise<void> => {
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await page.getByLabel('Your name').fill('Alice');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForSelector('main[data-view]');
  };
  await page.goto(`http://127.0.0.1:${rig.bridge.app.port}/admin/`);
  await signIn();
  return {
    page,
    signIn,
    open: async (view) => {
      await page.click(`nav a[data-view=${view}]`);
      await page.waitForSelector(`main[data-view=${view}]`);
    },
    answer: async (path, give) => {
      const fits = ({ pathname }: URL): boolean =>
        pathname.startsWith('/admin/v1/') && path.test(pathname.slice('/admin/v1'.length));
      const handle = (route: Route): Promise<void> =>
        give === 'none' ? route.abort('connectionreset') : route.fulfill(give);
      await page.route(fits, handle);
      return { undo: () => page.unroute(fits, handle) };
    },
    told: async () => {
      await page.locator('#said').waitFor({ state: 'visible' });
      return page.locator('#said').innerText();
    },
  };
}
