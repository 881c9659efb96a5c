// Tests that an order about the dead letter of one target leaves the dead letters of the same resource at other targets.
import { eventually } from '../../support/eventually.ts';
import { openAdmin, type AdminRig } from './rig.ts';

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

test('an order with a target reaches the dead letter of that target only, and an unknown target is named', async () => {
  const refs = [`Group:${group}`];
  const unknown = await rig.operator.post('/dead-letters/drop', { refs, target: 'nowhere' });
  expect([unknown.status, unknown.body.detail]).toEqual([404, expect.stringContaining('main')]);
  const { body } = await rig.operator.post('/dead-letters/drop', { refs, target: 'lab', by: 'alice' });
  expect(body).toEqual({ count: 1, resources: refs });
  expect(await lettersOf()).toEqual(['main']);
  const acts = (await rig.operator.get('/acts')).body;
  expect(acts.filter(({ act }: any) => act === 'dropDeadLetters')).toMatchObject([{ target: 'lab' }]);
});
