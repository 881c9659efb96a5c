// Tests that an order about the dead letter of one target leaves the dead letters of the same resource at other targets.
import { chromium } from 'playwright-core';
import { ADMIN_TOKEN } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWith, findTool } from '../../support/needs.ts';
import { openAdmin, type AdminRig } from './rig.ts';

const CHROMIUM = findTool('chromium', 'chromium-browser', 'google-chrome', 'chromium-headless-shell');
let rig: AdminRig;
let group: string;

beforeAll(async () => {
  rig = await openAdmin({
    configure: ({ targets, connections }) => {
      const { main } = targets;
      if (!main) throw new Error('no target');
      targets.lab = { ...main, name: 'lab' };
      connections.default?.targets.push('lab');
    },
  });
  group = await rig.bridge.idp.createGroup('system:a', []);
  await eventually('both targets refuse the group', async () => (await lettersOf()).length === 2);
}, 60_000);
afterAll(() => rig.bridge.stop());

const lettersOf = async (): Promise<string[]> =>
  (await rig.operator.get('/dead-letters')).body.map(({ target }: { target: string }) => target);

test("dropping a group's dead letter at one target keeps its dead letter at the other; a drop at an unknown target answers 404", async () => {
  const refs = [`Group:${group}`];
  const unknown = await rig.operator.post('/dead-letters/drop', { refs, target: 'nowhere' });
  expect([unknown.status, unknown.body.detail]).toEqual([404, expect.stringContaining('main')]);
  const { body } = await rig.operator.post('/dead-letters/drop', { refs, target: 'lab', by: 'alice' });
  expect(body).toEqual({ count: 1, resources: refs });
  expect(await lettersOf()).toEqual(['main']);
  const acts = (await rig.operator.get('/acts')).body;
  expect(acts.filter(({ act }: any) => act === 'dropDeadLetters')).toMatchObject([{ target: 'lab' }]);
});

describeWith(CHROMIUM !== undefined, 'Chromium')("dead letters on the operators' page", () => {
  test('a dead letter that the platform refuses again after a retry is listed again; the overview shows that Redis refuses writes, and no missing role', async () => {
    const browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
    });
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(10_000);
      await page.goto(`http://127.0.0.1:${rig.bridge.app.port}/admin/#/dead-letters`);
      await page.getByLabel('Admin token').fill(ADMIN_TOKEN);
      await page.getByRole('button', { name: 'Sign in' }).click();
      const retry = page.getByRole('button', { name: 'Retry system:a at main' });
      await retry.waitFor();
      // The platform is slow, so that the list is read while the retry runs.
      await rig.bridge.platform.control('PATCH', '/faults', { latencyMs: [1500, 1500] });
      await retry.click();
      await page.getByText('No dead letters').waitFor();
      await retry.waitFor();
      await rig.bridge.platform.control('PATCH', '/faults', {});

      // Redis takes no writes, and all roles run.
      const finding = { finding: 'redisRefuses', level: 'error', message: 'no writes', advice: null };
      await page.route('**/admin/v1/live', (route) => route.abort());
      await page.route('**/admin/v1/status', async (route) => {
        const answer = await route.fetch();
        const rows: any[] = await answer.json();
        const json = rows.map((row) => ({ ...row, fleet: { ...row.fleet, findings: [finding] } }));
        await route.fulfill({ response: answer, json });
      });
      await page.click('nav a[data-view=overview]');
      const processes = page.getByRole('region', { name: 'Processes' });
      await processes.getByText('Needs a person').waitFor();
      expect(await processes.innerText()).not.toContain('Part of the work stops');
    } finally {
      await browser.close();
    }
  }, 60_000);
});
