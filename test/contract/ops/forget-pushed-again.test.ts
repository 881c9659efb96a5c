// Tests an order to forget a person whom the identity provider pushes again after the check of the order.
import type { ForgetOrder } from '../../../src/directory/person/forget-orders.ts';
import type { Ref } from '../../../src/directory/records.ts';
import { forgetPerson } from '../../../src/ops/person/forget.ts';
import { randomIds, systemClock } from '../../../src/support/sources.ts';
import { idOf, openStore, type Store } from '../lua/rig.ts';

let store: Store;
beforeEach(async () => {
  store = await openStore();
});
afterEach(() => store.close());

test('a person is pushed again between the check and the removals → the outcome names the user, and the order stays stored', async () => {
  const ref: Ref = `User:${idOf('ada')}`;
  const push = () => store.putUser(idOf('ada'), { userName: 'ada' });
  const { forgetOrders } = store.state;
  const order: Pick<ForgetOrder, 'actor' | 'leaveAccounts' | 'otherPeople'> = {
    actor: { by: 'olga', via: 'command' },
    leaveAccounts: true,
    otherPeople: [],
  };
  // An interrupted order, so that something is kept of the person.
  await forgetOrders.start([ref], { ...order, names: ['ada'], externalIds: [], since: 1, triedAt: 1 });
  const start: typeof forgetOrders.start = async (...args) => {
    await forgetOrders.start(...args);
    await push();
  };
  const deps = {
    clock: systemClock,
    ids: randomIds,
    operations: { dropResults: () => Promise.reject(new Error('the order is complete')) },
  };
  const state = { ...store.state, forgetOrders: { ...forgetOrders, start } };
  const outcome = await forgetPerson(deps, [state], 'ada', {
    ...order,
    lookAt: () => Promise.reject(new Error('no account')),
    handoverRules: () => undefined,
  });
  expect(outcome).toEqual({ kind: 'pushedAgain', connection: 'idp', ref });
  await expect(forgetOrders.incomplete()).resolves.toMatchObject([{ ref, wasPushedAgain: true }]);
});
