// Tests which pushed users stop an order to forget a former person whose userName they have now.
import { ADMIN_TOKEN } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';
import { send } from '../support/send.ts';

const IVY = 'ivy@acme.example';
const JAN = 'jan@acme.example';

let place: Place;
beforeEach(async () => {
  place = await openPlace({});
}, 60_000);
afterEach(() => place.stop());

const create = async (userName: string, externalId: string | undefined): Promise<string> => {
  const { status, body } = await place.idp.send('POST', '/Users', { userName, externalId, active: true });
  expect(status).toBe(201);
  await place.idle();
  return body.id;
};
const remove = async (id: string): Promise<void> => {
  expect((await place.idp.send('DELETE', `/Users/${id}`)).status).toBe(204);
  await place.idle();
};
const rename = async (id: string, userName: string): Promise<void> => {
  await place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'userName', value: userName });
  await place.idle();
};
const forget = (...words: string[]) => place.commands.run('forget', ...words, '--yes', '--by', 'dpo');
const acts = async (): Promise<string> => (await place.commands.run('acts')).text;

test("a pushed user has the userName of a former person, with another externalId → forget of the name is refused, and forget of the former ref keeps the user's link and audit entries", async () => {
  const ivy = await create(IVY, 'ext-ivy');
  const jan = await create(JAN, 'ext-jan');
  await remove(ivy);
  await rename(jan, IVY);
  await place.commands.run('sync', `User:${jan}`, '--note', `now called ${IVY}`);
  const named = await forget(IVY);
  expect(named).toMatchObject({ code: 1 });
  expect(named.text).toContain(`is still pushed by default (User:${jan})`);
  expect(named.text).toContain(`a person who had this name before: scim-bridge forget User:${ivy}.`);

  const before = [(await place.commands.run('links', 'show', jan)).text, await acts()];
  const { code, text } = await forget(`User:${ivy}`);
  expect({ code, text }).toEqual({ code: 0, text: expect.stringContaining(`forgotten User:${ivy}`) });
  expect((await place.commands.run('links', 'show', jan)).text).toBe(before[0]);
  for (const line of before[1]?.split('\n') ?? []) expect(await acts()).toContain(line);
  expect((await forget(`User:${ivy}`)).code).toBe(4);
  for (const log of ['log', 'acts']) expect((await place.commands.run(log, '--verify')).code).toBe(0);
}, 60_000);

test("a pushed user without externalId has a former person's userName → forget asks whether both are one person, and continues once --other-people names the user", async () => {
  const admin = (body: object) =>
    send(`http://127.0.0.1:${place.port}/admin/v1`, 'POST', '/forget', {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body,
    });
  const [ivy, eva] = [await create(IVY, 'ext-ivy'), await create('eva@acme.example', 'ext-eva')];
  const jan = await create(JAN, undefined);
  const kim = await create('kim@acme.example', undefined);
  await remove(ivy);
  await remove(eva);
  await rename(jan, IVY);
  await rename(kim, 'eva@acme.example');
  const refused = await forget(`User:${ivy}`);
  expect(refused.code).toBe(1);
  expect(refused.text).toContain('it is not known whether this is the same person');
  expect(refused.text).toContain(`--other-people User:${jan}`);
  expect((await forget(`User:${ivy}`, '--other-people', `User:${kim}`)).code).toBe(1);
  expect((await forget(`User:${ivy}`, '--other-people', `User:${jan}`)).code).toBe(0);
  const order = { person: `User:${eva}`, yes: true };
  await expect(admin(order)).resolves.toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining(`User:${kim}`) },
  });
  await expect(admin({ ...order, otherPeople: [`User:${kim}`] })).resolves.toMatchObject({ status: 200 });
}, 60_000);

test('a person is pushed again with the same externalId → forget of the former ref is refused, even if the order calls the user another person', async () => {
  const former = await create(IVY, 'ext-ivy');
  await remove(former);
  const again = await create('ivy.new@acme.example', 'ext-ivy');
  for (const more of [[], ['--other-people', `User:${again}`]]) {
    const { code, text } = await forget(`User:${former}`, ...more);
    expect({ code, text }).toEqual({
      code: 1,
      text: expect.stringContaining(`is still pushed by default (User:${again})`),
    });
  }
}, 60_000);

test("a new user with another externalId took over a former person's account → forget of the former ref asks whether both are one person", async () => {
  const former = await create(IVY, 'ext-ivy');
  await remove(former);
  const again = await create(IVY, 'ext-ivy-2');
  const { code, text } = await forget(`User:${former}`);
  expect({ code, text }).toEqual({
    code: 1,
    text: expect.stringContaining(`--other-people User:${again}`),
  });
}, 60_000);

test('while the target is on hold, a former person is created anew with another externalId → forget asks whether both are one person, and continues with --other-people', async () => {
  const former = await create(IVY, 'ext-ivy');
  await remove(former);
  await place.commands.run('hold');
  const { body } = await place.idp.send('POST', '/Users', {
    userName: IVY,
    externalId: 'ext-2',
    active: true,
  });
  const refused = await forget(`User:${former}`);
  expect(refused).toMatchObject({
    code: 1,
    text: expect.stringContaining(`--other-people User:${body.id}`),
  });
  expect((await forget(`User:${former}`, '--other-people', `User:${body.id}`)).code).toBe(0);
}, 60_000);

test("a former person's account is at a target that left the settings, and another user has the userName → forget of the former ref removes the former person", async () => {
  const former = await create(IVY, 'ext-ivy');
  await remove(former);
  await place.change((settings) => {
    const [connection] = Object.values(settings.connections) as object[];
    settings.connections = { default: { ...connection, targets: ['second'] } };
    Object.assign(settings, { targets: { second: settings.targets.main } });
  });
  await rename(await create(JAN, 'ext-jan'), IVY);
  expect((await forget(`User:${former}`)).code).toBe(0);
}, 60_000);

test('forget --other-people is interrupted by a sync of the person → the running service completes the order', async () => {
  const former = await create(IVY, 'ext-ivy');
  await remove(former);
  const jan = await create(JAN, undefined);
  await rename(jan, IVY);
  const lease = (await place.key(':links:main')).replace('links:main', `lease:main:User:${former}`);
  await place.redis.set(lease, '1');
  const { code, text } = await forget(`User:${former}`, '--other-people', `User:${jan}`);
  expect({ code, text }).toEqual({ code: 1, text: expect.stringContaining('the running service completes') });
  await place.redis.del(lease);
  await place.stopApps();
  // The service tries an order again five minutes after the last attempt.
  const orders = await place.key(':forgetting');
  for (const [ref, order] of Object.entries(await place.redis.hgetall(orders)))
    await place.redis.hset(orders, ref, JSON.stringify({ ...JSON.parse(order), triedAt: 0 }));
  await place.start();
  await eventually('the order is complete', async () => (await place.redis.exists(orders)) === 0);
  expect((await forget(`User:${former}`)).code).toBe(4);
}, 60_000);

test('the externalId of a pushed user is the userName of a former person → forget asks whether both are one person, and continues with --other-people', async () => {
  const former = await create(IVY, undefined);
  await remove(former);
  const again = await create(JAN, IVY);
  const refused = await forget(`User:${former}`);
  expect(refused).toMatchObject({ code: 1, text: expect.stringContaining(`--other-people User:${again}`) });
  expect((await forget(`User:${former}`, '--other-people', `User:${again}`)).code).toBe(0);
}, 60_000);
