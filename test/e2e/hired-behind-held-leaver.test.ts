// Tests a person who is hired again while the guard holds the removal of the former record.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NONE = { count: 0, percent: 0 };
const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let former: string;
beforeEach(async () => {
  place = await openPlace({ target: { guard: { deactivate: NONE } } });
  const ids = [await place.idp.createUser(ANN), await place.idp.createUser(BOB)];
  await place.idp.createGroup('crew', ids);
  await place.idle();
  former = ids[0] ?? '';
  await place.idp.send('DELETE', `/Users/${former}`);
  await place.idp.send('DELETE', `/Users/${ids[1] ?? ''}`);
  await place.idle();
  await place.idp.createUser(ANN);
  await eventually('the new record waits', async () =>
    (await place.commands.run('explain', ANN)).text.includes('gives up a name or account'),
  );
}, 60_000);
afterEach(() => place.stop());

const run = async (...words: string[]) => place.commands.run(...words);
const heldId = async (): Promise<string> => (await run('approvals', 'list', '--json')).json[0].id as string;

const approveAll = async (): Promise<void> => {
  await run('approvals', 'approve', await heldId(), '--yes');
  await place.idle();
};
const active = async (name: string) => (await place.platform.user(name))?.active;
const words = (text: string): string => text.replaceAll(/\s+/g, ' ');

test('a re-hired person waits for the held deactivation of the former record → explain and verify-access name the former record, its open account and the deactivation', async () => {
  const id = await heldId();
  const explained = words((await run('explain', ANN)).text);
  expect(explained).toContain(`belongs to the former record User:${former}, deleted at the source`);
  expect(explained).toContain(
    'by its last sync it was open, in crew. The guard holds the deactivation of it',
  );
  expect(explained).toContain(`approvals show ${id} --ref User:${former}`);
  expect(explained).not.toContain('nothing of it is known there');

  const { code, text } = await run('verify-access', ANN);
  expect(code).not.toBe(0);
  expect(words(text)).toContain(
    `the guard holds a change of User:${former}; the account belongs to the former record User:${former}, deleted at the source, and is open`,
  );
  expect(words(text)).toContain('groups crew');
  expect(text).not.toContain('there is no account');
}, 60_000);

test('somebody closes the account of the former record by hand → explain of the new record says only what the last sync knew, and the command that it names lets the new record have the account', async () => {
  const { scimId } = (await place.platform.user(ANN)) ?? {};
  await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'replace', path: 'active', value: false });
  const explained = words((await run('explain', ANN)).text);
  expect(explained).not.toContain('it is open');
  await run('hold');
  expect(words((await run('explain', ANN)).text)).toContain(
    `If somebody has made that by hand, after the end of the hold of main, scim-bridge sync User:${former} takes it off the list`,
  );
  await run('release');
  const order = /If somebody has made that by hand, scim-bridge (sync \S+) takes it off the list/.exec(
    explained,
  );
  expect(order?.[1]).toBe(`sync User:${former}`);
  await run(...(order?.[1] ?? '').split(' '));
  await eventually('the new record has the account', async () => (await active(ANN)) === true);
  expect((await run('approvals', 'show', await heldId())).text).not.toContain(former);
}, 60_000);

test('`approvals show` and `approvals reject --person` with the userName of a re-hired person select only the held change of the former record', async () => {
  const id = await heldId();
  const shown = (await run('approvals', 'show', id, '--person', ANN)).text;
  expect(shown).toContain(`User:${former}`);
  expect(shown).not.toContain(BOB);
  const rejected = await run('approvals', 'reject', id, '--person', ANN, '--yes');
  expect(rejected).toMatchObject({ code: 0, text: expect.stringContaining('Rejected: 1 ') });
  await approveAll();
  expect(await active(ANN)).toBe(true);
  expect(await active(BOB)).toBe(false);
}, 60_000);
