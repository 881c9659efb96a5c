// Tests a stored account number (`Link.account`) that belongs to another account where there are more people than a run lists.
import { Redis } from 'ioredis';
import { toLinkText } from '../../src/directory/outbox/link.ts';
import { makePlan } from '../../src/reconcile/plan/make-plan.ts';
import type { Plan } from '../../src/reconcile/plan.ts';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import '../support/load-modules.ts';
import { openReconciling, type Reconciling } from '../support/reconciling.ts';

/** More people than those for whom a run that is not full reads the whole user list. */
const MANY = 5001;

let bridge: Bridge;
let reconciling: Reconciling;
beforeEach(async () => {
  bridge = await buildBridge({
    configure: ({ targets: { main } }) => {
      if (main)
        main.attributes = {
          contractor: { type: 'boolean', expression: 'userType = "Contractor"', onEmpty: 'clear' },
        };
    },
  });
  reconciling = await openReconciling(bridge);
}, 60_000);
afterEach(async () => {
  await reconciling.stop();
  await bridge.stop();
});

const changesOf = ({ entries }: Plan) => entries.filter(({ action }) => action !== 'unmanaged');

test("one of more than 5,000 links has another person's account id → plan without --full shows the right id, and reconcile gives each person the own value", async () => {
  const { idp, platform } = bridge;
  const ann = await idp.createUser('ann@acme.example', { userType: 'Contractor' });
  await idp.createUser('bob@acme.example');
  await reconciling.untilSynced();
  await reconciling.run();
  const [annAccount, bobAccount] = await Promise.all(
    ['ann', 'bob'].map((name) => platform.user(`${name}@acme.example`)),
  );
  const { scope } = reconciling.scopes[0] ?? {};
  if (!scope) throw new Error('no scope');
  const link = await scope.links.get('main', `User:${ann}`);
  expect(link.account).toBe(String(annAccount?.id));
  const many = { ...scope, directory: { ...scope.directory, count: () => Promise.resolve(MANY) } };
  const redis = new Redis(bridge.config.redis.url ?? '');
  const text = toLinkText({ ...link, account: String(bobAccount?.id) });
  await redis.hset(`${bridge.config.redis.prefix}:{default}:links:main`, `User:${ann}`, text);
  redis.disconnect();
  const options = { id: 'plan', signal: new AbortController().signal };
  const { plan } = await makePlan(many, options);
  const numbers = changesOf(plan).map(({ name, before, after }) => [name, before?.account, after?.account]);
  expect(numbers).toEqual([['ann@acme.example', String(bobAccount?.id), String(annAccount?.id)]]);
  await reconciling.run();
  await reconciling.untilSynced();
  expect((await platform.user('ann@acme.example'))?.attributes.contractor).toBe(true);
  expect((await platform.user('bob@acme.example'))?.attributes.contractor).toBe(false);
  expect(changesOf((await makePlan(many, options)).plan)).toEqual([]);
}, 60_000);
