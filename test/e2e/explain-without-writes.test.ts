// Tests what explain tells while Redis takes no writes, of people for whom it asks the platform more than their account: each call
// needs a budget from Redis.
import { openPlace, type Place } from '../support/situation.ts';

/** Owner of the platform key. */
const OWNER = 'admin@acme.example';
const CLEO = 'cleo@acme.example';

let place: Place;
beforeAll(async () => {
  place = await openPlace({
    ownRedis: true,
    target: { handover: { deployment: 1, folder: 'Handovers', afterDays: 30 } },
  });
  await place.idp.createUser(OWNER);
  const cleo = await place.idp.createUser(CLEO);
  await place.idle();
  await place.idp.patch(`/Users/${cleo}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

async function explainWithoutWrites(name: string) {
  await place.redis.config('SET', 'min-replicas-to-write', '1');
  const { code, json, text } = await place.commands.run('explain', name, '--json');
  await place.redis.config('SET', 'min-replicas-to-write', '0');
  expect([code, text]).toEqual([0, expect.stringContaining('Redis takes no writes')]);
  return json[0];
}

test('the handover of a closed account is to come and Redis takes no writes → explain tells when it is due, and that its folder was not read', async () => {
  const { handover, summary } = await explainWithoutWrites(CLEO);
  expect(summary).toContain('main was not read, because Redis takes no writes');
  expect(handover).toMatchObject({
    state: 'later',
    text: expect.stringContaining('it could not be read now whether the folder Handovers'),
  });
});

test('a person is protected as the owner of the platform key and Redis takes no writes → explain tells of the protection', async () => {
  const { condition } = await explainWithoutWrites(OWNER);
  expect(condition).toMatchObject({ reason: 'Protected' });
});
