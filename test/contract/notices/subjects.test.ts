// Tests that dead letters, an open breaker, failed reconciles and tokens are reported to the channels that subscribe to them only.
import { eventually } from '../../support/eventually.ts';
import { noticesOf, PAGE_URL, webhookTo } from '../../support/notice-channel.ts';
import { startFront, type Front } from '../../support/front.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { openAdmin, type AdminRig } from '../admin/rig.ts';

const EXPIRED_AT = '2026-01-31T00:00:00.000Z';
let rig: AdminRig;
let front: Front;
const receivers: Record<string, Receiver> = {};

beforeAll(async () => {
  front = await startFront();
  for (const about of ['deadLetters', 'breaker', 'reconcile', 'tokens'])
    receivers[about] = await startReceiver();
  rig = await openAdmin({
    configure: ({ notices, targets, connections }) => {
      const former = { name: 'former', secret: 'a-former-token-0123456789', expiresAt: EXPIRED_AT };
      connections.default?.tokens.push(former);
      const { main } = targets;
      if (!main) throw new Error('no target');
      front.platformUrl = main.url;
      Object.assign(main, { url: front.url, adopt: 'never' });
      notices.pageUrl = PAGE_URL;
      notices.channels = {
        letters: webhookTo(receivers.deadLetters?.endpoint ?? '', { about: ['deadLetters'] }),
        calls: webhookTo(receivers.breaker?.endpoint ?? '', { about: ['breaker'] }),
        runs: webhookTo(receivers.reconcile?.endpoint ?? '', { about: ['reconcile'] }),
        tokens: webhookTo(receivers.tokens?.endpoint ?? '', { about: ['tokens'] }),
      };
    },
  });
}, 60_000);
afterAll(async () => {
  await rig.bridge.stop();
  front.stop();
  await Promise.all(Object.values(receivers).map((each) => each.stop()));
});

const itemsOf = (about: string) => noticesOf(receivers[about] ?? { posts: [] }).flatMap(({ items }) => items);
const toldOf = (about: string, state: string) =>
  eventually(`${about} is ${state}`, () => itemsOf(about).find((item) => item.state === state));

test('a new dead letter sends one notice with its count and a link, and dropping the dead letter sends a resolved notice', async () => {
  const stranger = (await rig.bridge.platform.state()).users.at(-1);
  const id = await rig.bridge.idp.createUser(stranger?.userName ?? '');
  const told = await toldOf('deadLetters', 'new');
  const [letter] = (await rig.operator.get('/dead-letters')).body;
  expect(told).toMatchObject({
    since: letter.since,
    connection: 'default',
    target: 'main',
    count: 1,
    summary: 'default → main: 1 dead letter',
    link: `${PAGE_URL}/admin/#/dead-letters`,
  });
  await rig.operator.post('/dead-letters/drop', { refs: [`User:${id}`] });
  await toldOf('deadLetters', 'resolved');
}, 60_000);

test('a notice about an expired token has the time of the expiry', async () => {
  expect(await toldOf('tokens', 'new')).toMatchObject({
    connection: 'default',
    reason: 'expired',
    count: 1,
    since: EXPIRED_AT,
  });
}, 60_000);

test('while the platform answers 500, one notice reports the failing calls and one the failed reconcile; after the recovery each is sent as resolved', async () => {
  front.answer = () => ({ status: 500 });
  await rig.bridge.idp.createUser('new@acme.example');
  // The calls of the reconcile fail too, so the breaker opens earlier than by the attempts to create one user.
  const { body } = await rig.operator.post('/reconcile', {});
  expect(await toldOf('breaker', 'new')).toMatchObject({
    connection: null,
    target: 'main',
    reason: '500',
    link: `${PAGE_URL}/admin/#/overview`,
    summary: 'main: calls fail in a row (status 500), only probes are sent',
  });
  await rig.operator.ended(body.id, 60_000);
  const [{ reconcile }] = (await rig.operator.get('/status')).body;
  const since = new Date(reconcile.last.endedAt).toISOString();
  expect(await toldOf('reconcile', 'new')).toMatchObject({
    since,
    connection: 'default',
    target: 'main',
    count: 1,
  });
  front.answer = () => undefined;
  await toldOf('breaker', 'resolved');
  const again = await rig.operator.post('/reconcile', {});
  await rig.operator.ended(again.body.id);
  await toldOf('reconcile', 'resolved');
  for (const about of Object.keys(receivers))
    expect(new Set(itemsOf(about).map((item) => item.about))).toEqual(new Set([about]));
}, 120_000);
