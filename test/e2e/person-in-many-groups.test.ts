// Tests explain and sync of a person in more groups than one comparison reads (20), when others renamed all of them at the platform.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { openPlace, type Place } from '../support/situation.ts';

const BOB = 'bob@acme.example';
const NAMES = Array.from({ length: 23 }, (_, number) => `group ${number}`);

let place: Place;
beforeAll(async () => {
  place = await openPlace({});
  const bob = await place.idp.createUser(BOB);
  for (const name of NAMES) await place.idp.createGroup(name, [bob]);
  await place.idle();
  for (const { scimId, displayName } of (await place.platform.state()).groups)
    await byHand(place, 'PATCH', `/Groups/${scimId}`, {
      op: 'replace',
      path: 'displayName',
      value: `former ${displayName}`,
    });
}, 60_000);
afterAll(() => place.stop());

const told = async (...args: string[]) => {
  const { text, code } = await place.commands.run(...args);
  return { text: text.replaceAll(/\s+/g, ' '), code };
};
const groupNames = async () => (await place.platform.user(BOB))?.groups.toSorted();

test('a person is in many groups → explain and sync --dry-run read 20 groups and print how many were not read', async () => {
  for (const command of [
    ['explain', BOB],
    ['sync', BOB, '--dry-run'],
  ]) {
    await place.platform.forgetRequests();
    const { text } = await told(...command);
    expect(text).toContain(
      '3 groups of the person were not compared, because they are too many for one look',
    );
    const reads = (await place.platform.requests()).filter(({ path }) => path.includes('/Groups/'));
    expect(reads).toHaveLength(20);
  }
});

test('sync of a person in many groups exits 0 and prints how many groups were not compared', async () => {
  const first = await told('sync', BOB);
  expect(first.text).toContain('nothing more to do: 3 groups of the person were not compared');
  expect(first.code).toBe(0);
  expect((await groupNames())?.filter((name) => name.startsWith('former'))).toHaveLength(3);
  const second = await told('sync', BOB);
  expect([second.code, await groupNames()]).toEqual([0, NAMES.toSorted()]);
  expect(second.text).not.toContain('not compared');
}, 60_000);
