// Tests links forget of a ref that two connections know: it forgets the links of both or none, or those of one.
import '../support/load-modules.ts';
import { ADMIN_TOKEN, TOKEN } from '../support/build-bridge.ts';
import { send } from '../support/send.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NONE = { count: 0, percent: 0 };

let place: Place;
let ann: string;
/** Lets the connection hr have the data of the connection default, then deletes the person in default; the closing is held. */
beforeAll(async () => {
  const connections = {
    default: { tokens: [{ name: 'primary', secret: TOKEN }] },
    hr: { tokens: [{ name: 'hr', secret: `${TOKEN}-hr` }] },
  };
  place = await openPlace({ rest: { connections }, target: { guard: { deactivate: NONE } } });
  ann = await place.idp.createUser('ann@acme.example');
  await place.idle();
  const { prefix } = place.settings.redis;
  for (const key of await place.redis.keys(`${prefix}:{default}:*`))
    await place.redis.copy(key, key.replace('{default}', '{hr}'), 'REPLACE');
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const forget = (...flags: string[]) => place.commands.run('links', 'forget', `User:${ann}`, ...flags);
/** Returns the connections in which the person is linked to an account. */
async function linked(): Promise<string[]> {
  const { json } = await place.commands.run('links', 'show', `User:${ann}`, '--json');
  return json.flatMap((row: any) => (row.platformId === null ? [] : [row.connection])).sort();
}

test('one of two connections needs its link → links forget forgets neither, names the connection, and --connection forgets the link of the other one', async () => {
  expect(await linked()).toEqual(['default', 'hr']);
  const refused = await forget();
  expect(refused.code).toBe(1);
  expect(refused.text).toContain('At main (connection default): The account may be active');
  expect(refused.text).toContain(`scim-bridge links forget User:${ann} --leave-account`);
  expect(refused.text).toContain('with --connection NAME only the links of one connection');
  expect(await linked()).toEqual(['default', 'hr']);

  const url = `http://127.0.0.1:${place.port}/admin/v1`;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
  const post = (body: object) => send(url, 'POST', '/links/forget', { headers, body });
  expect(await post({ resource: `User:${ann}` })).toMatchObject({ status: 409 });
  expect(await linked()).toEqual(['default', 'hr']);
  expect(await post({ resource: `User:${ann}`, connection: 'default' })).toMatchObject({ status: 409 });
  expect(await post({ resource: `User:${ann}`, connection: 'none' })).toMatchObject({ status: 404 });

  expect((await forget('--connection', 'none')).code).toBe(1);
  const one = await forget('--connection', 'hr');
  expect([one.code, one.text]).toEqual([0, expect.stringContaining('hr → main')]);
  expect(await linked()).toEqual(['default']);
}, 60_000);
