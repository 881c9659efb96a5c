// Tests in Chromium what the operators' page tells when an answer is lost, comes from a proxy, or ends the sign-in.
import type { Browser } from 'playwright-core';
import { eventually } from '../../support/eventually.ts';
import { describeWith } from '../../support/needs.ts';
import { accessFaults } from './axe.ts';
import { launchBrowser, openPage, PAGE_BROWSER, type OpenPage } from './open-page.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const HTML = { contentType: 'text/html', body: '<html><h1>Proxy</h1></html>' };
const UNKNOWN = 'Whether the order was carried out is not known: look at Acts before you repeat it.';
/** The paths of the decision to reject, and of everything. */
const REJECT = /^\/approvals\/[^/]+\/reject$/;
const ALL = /^\//;

describeWith(PAGE_BROWSER !== undefined, 'Chromium')('the page behind a proxy or an ended sign-in', () => {
  let rig: AdminRig;
  let browser: Browser;
  let open: OpenPage;

  beforeAll(async () => {
    rig = await openAdmin({
      configure: ({ targets: { main } }) => {
        if (main) main.guard.deactivate = { count: 0, percent: 100 };
      },
    });
    const id = await rig.bridge.idp.createUser('ada@acme.example');
    await rig.untilSynced();
    await rig.bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    await eventually(
      'the deactivation is held',
      async () => (await rig.operator.get('/approvals')).body.length === 1,
    );
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

  const note = () => open.page.getByLabel('Note');
  async function reject(): Promise<void> {
    await open.page.getByRole('button', { name: 'Reject', exact: true }).click();
    await open.page.locator('dialog').getByRole('button', { name: 'Reject' }).click();
  }

  test.each<[string, Parameters<OpenPage['answer']>[1], string]>([
    ['is lost', 'none', `The bridge does not answer. ${UNKNOWN}`],
    [
      'is 502 of a proxy',
      { status: 502, ...HTML },
      `Not the bridge, but probably a proxy before it, answered with 502. ${UNKNOWN}`,
    ],
    [
      'is a page of a proxy',
      { status: 200, ...HTML },
      `Not the bridge, but probably a proxy before it, answered with 200. ${UNKNOWN}`,
    ],
    ['is 413 of a proxy', { status: 413, ...HTML }, 'A proxy before the bridge refuses this with 413.'],
    [
      'is the internal error of the bridge',
      {
        status: 500,
        contentType: 'application/problem+json',
        body: '{"detail":"Internal error e1: the log has a line with this id."}',
      },
      'Internal error e1: the log has a line with this id.',
    ],
  ])(
    'when the answer to a decision %s, the page shows the cause and keeps the typed note',
    async (_how, answer, text) => {
      await open.open('approvals');
      await open.page.getByText('Decide about a part, or add a note').click();
      await note().fill('ask HR first');
      await open.answer(REJECT, answer);
      await reject();
      expect(await open.told()).toBe(text);
      expect(await note().inputValue()).toBe('ask HR first');
      expect((await rig.operator.get('/approvals')).body).toHaveLength(1);
    },
    30_000,
  );

  test('while a proxy answers in place of the bridge, each view of the page says so, and reloads when the bridge answers again', async () => {
    for (const status of [200, 502]) {
      const { undo } = await open.answer(/^\/(?!live$)/, { status, ...HTML });
      for (const view of ['exceptions', 'approvals', 'tokens']) {
        await open.page.click(`nav a[data-view=${view}]`);
        await open.page
          .getByText(
            `probably a proxy before it, answered with ${status}. It is read again when the bridge answers.`,
          )
          .waitFor();
        expect(await accessFaults(open.page)).toEqual([]);
      }
      await undo();
      // A change of the status makes the stream send an event.
      await rig.operator.post(status === 200 ? '/hold' : '/release', {});
      await open.page.waitForSelector('main[data-view=tokens]');
    }
  }, 60_000);

  test('when a request of the page is redirected, the view advises to open the page in another tab', async () => {
    const { undo } = await open.answer(/^\/exceptions$/, { status: 302, headers: { location: '/admin/' } });
    await open.page.click('nav a[data-view=exceptions]');
    await open.page
      .getByText('sends the page elsewhere, perhaps to sign in: open the page in another tab')
      .waitFor();
    await undo();
  }, 30_000);

  test('when the sign-in ends during a decision, the page says that nothing was done, and shows the typed note again after the next sign-in', async () => {
    await open.open('approvals');
    await open.page.getByText('Decide about a part, or add a note').click();
    await note().fill('ask HR first');
    await open.page.getByRole('button', { name: 'Reject', exact: true }).click();
    const { undo } = await open.answer(ALL, {
      status: 401,
      contentType: 'application/problem+json',
      body: '{"detail":"no"}',
    });
    await open.page.locator('dialog').getByRole('button', { name: 'Reject' }).click();
    expect(await open.told()).toBe('Your sign-in has ended, and nothing was done.');
    await open.page
      .getByText('Your sign-in has ended. What you typed comes back when you sign in again')
      .waitFor();
    expect(await open.page.getByLabel('Your name').inputValue()).toBe('Alice');
    expect(await open.page.locator('dialog').count()).toBe(0);
    expect(await accessFaults(open.page)).toEqual([]);
    await undo();
    await open.signIn();
    await open.page.waitForSelector('main[data-view=approvals]');
    expect(await open.page.locator('#said').isVisible()).toBe(false);
    expect(await note().inputValue()).toBe('ask HR first');
    expect(await note().isVisible()).toBe(true);
    expect((await rig.operator.get('/approvals')).body).toHaveLength(1);
  }, 30_000);

  test('when the sign-in ends while the Hold dialog is open, the dialog closes and no hold is ordered', async () => {
    await open.page.getByRole('button', { name: 'Hold', exact: true }).click();
    await open.page.locator('dialog').waitFor();
    let requests = 0;
    const { undo } = await open.answer(ALL, {
      status: 401,
      contentType: 'application/problem+json',
      body: '{"detail":"no"}',
    });
    await open.page.getByText('Your sign-in has ended.').waitFor();
    expect(await open.page.locator('dialog').count()).toBe(0);
    open.page.on('request', () => requests++);
    // Longer than every interval at which the overview asks.
    await open.page.waitForTimeout(4000);
    expect(requests).toBe(0);
    await undo();
    expect((await rig.operator.get('/status')).body[0].hold).toBeNull();
  }, 30_000);

  test('after a new sign-in the page shows the text that the operator typed before, and shows it to no other operator', async () => {
    const typeAndEnd = async (): Promise<void> => {
      await open.open('mapping');
      await open.page.getByLabel('Attributes').fill('{ "mine": {} }');
      const { undo } = await open.answer(ALL, {
        status: 401,
        contentType: 'application/problem+json',
        body: '{}',
      });
      await open.page.getByLabel('Person').fill('ada@acme.example');
      await open.page.getByText('Your sign-in has ended.').waitFor();
      await undo();
    };
    const attributes = () => open.page.getByLabel('Attributes').inputValue();
    await typeAndEnd();
    await open.signIn();
    await open.page.waitForSelector('main[data-view=mapping]');
    expect(await attributes()).toBe('{ "mine": {} }');
    await typeAndEnd();
    await open.page.getByLabel('Your name').fill('Bob');
    await open.page.getByLabel('Admin token').fill('an-admin-token-of-tests-0123456789');
    await open.page.getByRole('button', { name: 'Sign in' }).click();
    await open.page.waitForSelector('main[data-view=mapping]');
    expect(await attributes()).not.toContain('mine');
    expect(await open.page.evaluate('sessionStorage.length')).toBe(2);
  }, 60_000);
});
