// Tests a dead letter about the account or group of another connection whose link is gone: the next run tries it again.
import '../support/load-modules.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { byHand } from '../support/by-hand.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp, type Idp } from '../support/idp.ts';
import { openPlace, type Place } from '../support/situation.ts';

const HR_TOKEN = `${TOKEN}-hr`;
const NEAR = 'near1@acme.example';
const MIA = 'mia@acme.example';

let place: Place;
let hr: Idp;
beforeEach(async () => {
  const connections = {
    default: { tokens: [{ name: 'primary', secret: TOKEN }] },
    // Under this profile an externalId identifies a person.
    hr: { profile: 'okta', tokens: [{ name: 'hr', secret: HR_TOKEN }] },
  };
  place = await openPlace({ rest: { connections } });
  hr = createIdp(`http://127.0.0.1:${place.port}/connections/hr/scim/v2`, HR_TOKEN);
}, 30_000);
afterEach(() => place.stop());

const run = async (...args: string[]) => {
  const { code, text } = await place.commands.run(...args);
  return { code, text: text.replaceAll(/\s+/g, ' ') };
};

/** Returns the dead letters as `name reason`. */
async function deadLetters(): Promise<string[]> {
  const { json } = await place.commands.run('dead-letters', 'list', '--json');
  return (json as { name: string; reason: string }[]).map(({ name, reason }) => `${name} ${reason}`);
}

/** Returns all values of the links of a connection as one text. */
const linksOf = async (connection: string): Promise<string> =>
  (await place.redis.hvals(`${place.settings.redis.prefix}:{${connection}}:links:main`)).join(' ');

/** Pushes a person of the second connection who has the externalId of one of the first. @returns the id of the latter */
async function pushBoth(): Promise<string> {
  const near = await place.idp.createUser(NEAR, { externalId: 'e-1' });
  await place.idle();
  await hr.createUser(MIA, { externalId: 'e-1' });
  await place.idle();
  expect(await deadLetters()).toEqual([`${MIA} TakenByConnection`]);
  return near;
}

/** Deletes the account at the platform, then the person at the source, and forgets the person. */
async function deleteAndForget(near: string): Promise<void> {
  await byHand(place, 'DELETE', `/Users/${(await place.platform.user(NEAR))?.scimId ?? ''}`);
  await place.idp.send('DELETE', `/Users/${near}`);
  await place.idle();
  expect(await run('forget', `User:${near}`, '--yes')).toMatchObject({ code: 0 });
}

test('the person of the other connection is deleted and forgotten → explain, plan and dead-letters say that the next run tries the dead letter, and reconcile gives the person an account', async () => {
  await deleteAndForget(await pushBoth());
  for (const words of [['explain', MIA], ['dead-letters', 'list'], ['plan']]) {
    const { text } = await run(...words);
    expect(text).toMatch(
      /is not linked to it any more: the next reconcile that repairs, or scim-bridge sync \S+, tries it again, but not while the target is on hold/,
    );
    expect(text).not.toContain('links forget');
  }
  expect(await run('reconcile', '--yes')).toMatchObject({ code: 0 });
  await place.idle();
  expect(await deadLetters()).toEqual([]);
  expect(await place.platform.user(MIA)).toMatchObject({ active: true, externalId: 'e-1' });
  expect(await linksOf('hr')).not.toContain(NEAR);
}, 90_000);

test('the link of the other connection stays → a run leaves the dead letter as it is', async () => {
  const near = await pushBoth();
  await place.idp.send('DELETE', `/Users/${near}`);
  await place.idle();
  await run('reconcile', '--yes');
  await place.idle();
  expect(await deadLetters()).toEqual([`${MIA} TakenByConnection`]);
  expect((await run('explain', MIA)).text).toContain(`links forget User:${near}`);
  expect(await place.platform.user(MIA)).toBeUndefined();
}, 90_000);

test('an operator forgets the link of one of two groups with the same name → the next run lets the other connection take the group over', async () => {
  const first = await place.idp.createGroup('sales', []);
  await place.idle();
  await hr.createGroup('sales', [await hr.createUser(MIA)]);
  await place.idle();
  expect(await deadLetters()).toEqual(['sales TakenByConnection']);
  await place.idp.send('DELETE', `/Groups/${first}`);
  await place.idle();
  await run('links', 'forget', `Group:${first}`, '--target', 'main');
  await run('reconcile', '--yes');
  await eventually('members', async () =>
    (await place.platform.group('sales'))?.members.includes(MIA) ? true : undefined,
  );
  expect(await deadLetters()).toEqual([]);
}, 90_000);

/** Expects that a run keeps the dead letter of the second connection, and that no command says that it tries it again. */
async function expectKept(): Promise<void> {
  expect((await run('reconcile', '--yes')).text).toContain('hr → main: blocked: 1 dead letter');
  expect(await deadLetters()).toContain(`${MIA} TakenByConnection`);
  expect(await linksOf('hr')).not.toContain(`"id":"${(await place.platform.user(NEAR))?.scimId}"`);
  for (const words of [['explain', MIA], ['dead-letters', 'list'], ['plan']])
    expect((await run(...words)).text).not.toContain('is not linked to it any more');
}

/** Pushes both, and waits until the service has looked at the data since. @returns the start of all keys of the first connection */
async function pushAndLook(): Promise<string> {
  await pushBoth();
  const start = `${place.settings.redis.prefix}:{default}:`;
  const pushedAt = Date.now();
  await eventually(
    'the service has looked at the data',
    async () => Number(await place.redis.get(`${start}dataSeen`)) > pushedAt,
  );
  return start;
}

test('the data of the other connection is older than before, without its link → a run leaves the dead letter as it is, and no command announces another try', async () => {
  const start = await pushAndLook();
  await place.redis.del(`${start}links:main`, `${start}linked:main`);
  await place.redis.set(`${start}dataSeen`, String(Date.now() - 60_000));
  await eventually('the first connection is on hold', async () => {
    const [row] = (await place.commands.run('status', '--json')).json;
    return row.hold ?? undefined;
  });
  await expectKept();
}, 90_000);

test('the data of the other connection is lost → a run leaves the dead letter as it is, and no command announces another try', async () => {
  const start = await pushAndLook();
  await place.redis.del(...(await place.redis.keys(`${start}*`)));
  await eventually('status tells it', async () =>
    (await run('status')).text.includes('Redis came back empty'),
  );
  await expectKept();
}, 90_000);
