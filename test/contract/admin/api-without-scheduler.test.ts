// Tests that the status promises no reconcile of the schedule while no scheduler runs.
import { eventually } from '../../support/eventually.ts';
import { openAdmin, type AdminRig } from './rig.ts';

let rig: AdminRig;
beforeAll(async () => {
  rig = await openAdmin({
    role: 'api',
    configure: ({ reconcile }) => {
      reconcile.schedule = '*/15 * * * *';
    },
  });
}, 60_000);
afterAll(() => rig.bridge.stop());

const status = async (): Promise<any> => (await rig.operator.get('/status')).body[0];

test('GET /status gives null as the time of the next reconcile until a scheduler process runs, and then a time', async () => {
  await eventually('the process has announced itself', async () => {
    const { findings } = (await status()).fleet;
    return findings.some(({ finding }: any) => finding === 'noScheduler');
  });
  expect((await status()).reconcile.next).toBeNull();
  await rig.bridge.another('scheduler');
  await eventually('the next run is known', async () => (await status()).reconcile.next !== null);
  expect((await status()).reconcile.next).toBeGreaterThan(Date.now());
}, 60_000);
