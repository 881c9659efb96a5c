// Tests approvals by two persons on the page, in Chromium.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWith, findTool } from '../../support/needs.ts';
import { accessFaults } from './axe.ts';
import { openTwoApprovers, type TwoApproversRig } from './two-approvers-rig.ts';

const CHROMIUM = findTool('chromium', 'chromium-browser', 'google-chrome', 'chromium-headless-shell');
const SHOTS = process.env.ADMIN_SCREENSHOTS;

let rig: TwoApproversRig['rig'];
let ids: TwoApproversRig['ids'];
let leave: TwoApproversRig['leave'];
let closed: TwoApproversRig['closed'];
let heldId: TwoApproversRig['heldId'];

beforeEach(async () => {
  ({ rig, ids, leave, closed, heldId } = await openTwoApprovers());
}, 60_000);
afterEach(() => rig.bridge.stop());

describeWith(CHROMIUM !== undefined, 'Chromium')("approvals by two persons on the operators' page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
    });
  });
  afterAll(() => browser.close());

  /** Opens the approvals with the admin token. */
  async function withToken(name: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(10_000);
    await page.goto(`http://127.0.0.1:${rig.bridge.app.port}/admin/#/approvals`);
    await page.getByText('With the admin token').click();
    await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
    await page.getByLabel('Your name').fill(name);
    await page.getByRole('button', { name: 'Sign in with the token' }).click();
    await page.waitForSelector('main[data-view=approvals]');
    return page;
  }

  test("the operators' page offers no second approval to a holder of the admin token when another holder gave the first one", async () => {
    await leave(0);
    await rig.operator.post(`/approvals/${await heldId()}/approve`, { by: 'alice' });
    const page = await withToken('carol');
    await page.getByText('A second person has to approve the same').waitFor();
    expect(await page.getByRole('button', { name: 'Approve as second person' }).count()).toBe(0);
  }, 60_000);

  test('when the source takes back one of three held deactivations, the reject dialog of an already open page counts two', async () => {
    await leave(0, 1, 2);
    await heldId();
    const page = await withToken('carol');
    await page.getByText('3 accounts to deactivate').waitFor();
    await rig.bridge.idp.patch(`/Users/${ids[0]}`, { op: 'replace', path: 'active', value: true });
    await rig.untilSynced();
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    expect(await page.locator('dialog').innerText()).toContain('2 accounts to deactivate.');
  }, 60_000);

  test("when the bridge refuses the page's admin token after an outage, the page shows the sign-in form and sends no more requests", async () => {
    const page = await withToken('carol');
    await page.route('**/admin/v1/**', (route) => route.abort());
    await page.click('nav a[data-view=exceptions]');
    await page.getByText('The bridge does not answer. It is read again when the bridge answers.').waitFor();
    await page.unroute('**/admin/v1/**');
    let refused = 0;
    await page.route('**/admin/v1/**', (route) => {
      refused += 1;
      return route.fulfill({ status: 401, json: { detail: 'another token' } });
    });
    await page.getByText('For operators of this bridge.').waitFor();
    // No further request is sent with the refused token.
    const before = refused;
    await page.waitForTimeout(2500);
    expect(refused).toBe(before);
  }, 60_000);

  test("the operators' page offers a second approval only to another person than the first approver, and the second approval closes the accounts", async () => {
    await leave(0, 1, 2);
    const visit = async (name: string): Promise<Page> => {
      const context = await browser.newContext({
        viewport: { width: 1200, height: 900 },
        extraHTTPHeaders: { 'X-Forwarded-User': name, 'X-Forwarded-Groups': 'approvers' },
      });
      const page = await context.newPage();
      page.setDefaultTimeout(10_000);
      await page.goto(`http://127.0.0.1:${rig.bridge.app.port}/admin/#/approvals`);
      return page;
    };
    const press = async (page: Page, name: string): Promise<void> => {
      await page.getByRole('button', { name, exact: true }).click();
      await page.locator('dialog button[value=yes]').click();
    };
    const anna = await visit('anna');
    await press(anna, 'Approve');
    await anna.getByText('A second person has to approve the same').waitFor();
    expect(await accessFaults(anna)).toEqual([]);
    if (SHOTS) {
      mkdirSync(SHOTS, { recursive: true });
      await anna.screenshot({ path: join(SHOTS, 'first-approval.png'), fullPage: true });
    }
    expect(await anna.getByRole('button', { name: 'Approve as second person' }).count()).toBe(0);
    await press(anna, 'Approve');
    await anna.getByText('another person has to approve it too').waitFor();
    expect(await closed()).toEqual([]);
    await press(await visit('ben'), 'Approve as second person');
    await eventually('they are closed', async () => (await closed()).length === 3);
  }, 60_000);
});
