// Tests that an order by a ref or an id never means a person whose userName is that ref or id.
import '../support/load-modules.ts';
import { TOKEN } from '../support/build-bridge.ts';
import { createIdp, type Idp } from '../support/idp.ts';
import { openPlace, type Place } from '../support/situation.ts';

const HR_TOKEN = `${TOKEN}-hr`;
const NONE = { count: 0, percent: 0 };

let place: Place;
let hr: Idp;
beforeEach(async () => {
  const connections = {
    default: { tokens: [{ name: 'primary', secret: TOKEN }] },
    hr: { tokens: [{ name: 'hr', secret: HR_TOKEN }] },
  };
  place = await openPlace({ rest: { connections }, target: { guard: { deactivate: NONE } } });
  hr = createIdp(`http://127.0.0.1:${place.port}/connections/hr/scim/v2`, HR_TOKEN);
}, 60_000);
afterEach(() => place.stop());

test.each([
  ['approve', 'User:'],
  ['reject', 'User:'],
  ['approve', ''],
])(
  'approvals %s --person "%s<id>" decides about the person with this id, not about a leaver whose userName is this text',
  async (decision, prefix) => {
    const { commands, idp, platform } = place;
    const ann = await idp.createUser('ann@acme.example');
    const text = `${prefix}${ann}`;
    const eve = await idp.createUser(text);
    await place.idle();
    for (const id of [ann, eve]) await idp.send('DELETE', `/Users/${id}`);
    await place.idle();
    const { id } = (await commands.run('approvals', 'list', '--json')).json[0];
    expect((await commands.run('approvals', decision, id, '--person', text, '--yes')).code).toBe(0);
    await place.idle();
    expect((await platform.user('ann@acme.example'))?.active).toBe(decision === 'reject');
    expect((await platform.user(text))?.active).toBe(true);
    expect((await commands.run('explain', `User:${eve}`, '--json')).json[0].condition).toMatchObject({
      reason: 'Held',
    });
  },
  60_000,
);

test('another connection has a person whose userName is a ref → sync and links forget of this ref still select the person with the ref', async () => {
  const ann = await place.idp.createUser('ann@acme.example');
  await hr.createUser(`User:${ann}`);
  await place.idle();
  const { code, text } = await place.commands.run('sync', `User:${ann}`);
  expect([code, text]).toEqual([0, expect.stringContaining('ann@acme.example')]);
  expect((await place.commands.run('links', 'forget', `User:${ann}`)).text).toContain('ann@acme.example');
}, 60_000);

test.each(['User:', ''])(
  'forget of "%s<id>" keeps the data of a leaver of another connection whose userName is this text',
  async (prefix) => {
    const { commands, idp } = place;
    const ann = await idp.createUser('ann@acme.example');
    const text = `${prefix}${ann}`;
    const eve = await hr.createUser(text);
    await place.idle();
    await idp.send('DELETE', `/Users/${ann}`);
    await hr.send('DELETE', `/Users/${eve}`);
    await place.idle();
    const { code, json } = await commands.run('forget', text, '--leave-account', '--yes', '--json');
    expect([code, json.map(({ refs }: { refs: string[] }) => refs)]).toEqual([0, [[`User:${ann}`]]]);
  },
  60_000,
);

test('links forget of an unknown ref exits 4, although a person has this ref as userName', async () => {
  const eve = await hr.createUser('User:gone');
  await place.idle();
  expect((await place.commands.run('links', 'forget', 'User:gone')).code).toBe(4);
  expect((await place.commands.run('links', 'show', `User:${eve}`)).text).not.toContain('not linked');
}, 60_000);
