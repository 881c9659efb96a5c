// Tests the values of a person that wait for a held removal of this person from a group: plan and reconcile name them as waiting.
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { scrape } from '../support/scrape.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NONE = { count: 0, percent: 0 };
const IVY = 'ivy@acme.example';

const BOB = 'bob@acme.example';

let place: Place;
let bob: string;
let region: string;
beforeAll(async () => {
  place = await openPlace({
    target: {
      guard: { removeMembers: NONE },
      attributes: {
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'keep' },
        regions: {
          type: 'string_array',
          expression: 'groups.display[$match($, /^region-/)]',
          onEmpty: 'clear',
        },
        level: { type: 'number', expression: '$number(title)', onEmpty: 'keep' },
      },
    },
  });
  const { idp } = place;
  const ivy = await idp.createUser(IVY, { addresses: [{ type: 'work', country: 'DE' }] });
  bob = await idp.createUser(BOB);
  region = await idp.createGroup('region-us', [ivy, bob]);
  await place.idle();
  await idp.patch(`/Groups/${region}`, { op: 'remove', path: `members[value eq "${ivy}"]` });
  await idp.patch(`/Users/${ivy}`, { op: 'replace', path: 'displayName', value: 'Ivy Two' });
  // The bridge is not idle: the mark of the person stays until the decision.
  await untilBehindHeld(IVY);
}, 60_000);
afterAll(() => place.stop());

const untilBehindHeld = (name: string): Promise<unknown> =>
  eventually('the values wait for a decision', async () => {
    const [found] = (await place.commands.run('explain', name, '--json')).json;
    return found.verdict === 'held' && found.mark?.state === 'due' && found.mark.priority === null;
  });

test("the removal of a person from a group is held → plan counts none of this person's values as a change", async () => {
  const { text, code } = await place.commands.run('plan', '--all');
  expect(text).toContain('waits for the held removal of the person from another group');
  expect(text).not.toContain('1 change');
  expect(text).not.toContain('to clear');
  expect(code).toBe(0);
});

test('values wait for a held removal → status counts the person as held and nothing as `not applied yet`, the backlog metrics are 0, and sync exits 2', async () => {
  const status = await place.commands.run('status');
  expect(status.text).toContain('0 not applied yet');
  expect(status.text).toContain('people: 2 in all: 1 linked, 1 held by the guard, 0 missing');
  const metrics = await scrape(place.port);
  for (const name of ['bridge_outbox_dirty', 'bridge_outbox_oldest_seconds'])
    expect(metrics.find(name).map(({ value }) => value)).toEqual([0]);
  const sync = await place.commands.run('sync', IVY);
  expect(sync.text).toMatch(
    /held: the guard holds the removal from 1 group: region-us: scim-bridge approvals show/,
  );
  expect(sync.code).toBe(2);
}, 60_000);

test('reconcile exits 2 as held, and names the dead letters beside the changes that wait for a held one', async () => {
  await place.idp.createUser('cat@acme.example', { title: 'no number' });
  await eventually('the other person is a dead letter', async () =>
    (await place.commands.run('dead-letters', 'list')).text.includes('cat@acme.example'),
  );
  const { platformUrl, fixtures } = place.sandbox.ready;
  const scimId = (await place.platform.user(IVY))?.scimId ?? '';
  const answer = await fetch(`${platformUrl}/api/scim/v2/Users/${scimId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [
        { op: 'replace', path: 'urn:cube:params:1.0:UserAttribute:country', value: 'US' },
        { op: 'replace', path: 'active', value: false },
      ],
    }),
  });
  expect(answer.ok).toBe(true);
  // The repairs of changes made by hand wait as well.
  expect((await place.commands.run('plan')).text).not.toMatch(/to activate|to set/);
  expect((await place.commands.run('sync', IVY, '--dry-run')).text).not.toContain('would write');
  const { text, code } = await place.commands.run('reconcile', '--yes', '--deadline', '20s');
  expect(text).toContain('for which 1 change of this run waits');
  expect(text).toContain('1 dead letter: see scim-bridge dead-letters list');
  expect(code).toBe(2);
}, 60_000);

test("the held removal of a person from a group is approved → the person's waiting values are written", async () => {
  const [approval] = (await place.commands.run('approvals', 'list', '--json')).json;
  await place.commands.run('approvals', 'approve', approval.id, '--yes');
  await place.idle();
  const account = await place.platform.user(IVY);
  expect(account).toMatchObject({
    active: true,
    displayName: 'Ivy Two',
    groups: [],
    attributes: { country: 'DE' },
  });
  expect(account?.attributes.regions ?? null).toBeNull();
});

test('a held removal is taken back by the source or rejected → the values that waited for it are written', async () => {
  const { idp, commands, platform } = place;
  const leave = async (country: string): Promise<void> => {
    await idp.patch(`/Groups/${region}`, { op: 'remove', path: `members[value eq "${bob}"]` });
    const addresses = [{ type: 'work', country }];
    await idp.patch(`/Users/${bob}`, { op: 'replace', path: 'addresses', value: addresses });
    await untilBehindHeld(BOB);
  };
  await leave('FR');
  await idp.patch(`/Groups/${region}`, { op: 'add', path: 'members', value: [{ value: bob }] });
  await place.idle();
  expect((await platform.user(BOB))?.attributes.country).toBe('FR');
  await leave('IT');
  const [approval] = (await commands.run('approvals', 'list', '--json')).json;
  await commands.run('approvals', 'reject', approval.id, '--yes');
  await place.idle();
  expect((await platform.user(BOB))?.attributes.country).toBe('IT');
}, 60_000);

test('a dead letter gets a newer push that waits for a held removal → explain, sync and verify-access name the held removal, not the refusal', async () => {
  const { idp, commands } = place;
  const dan = await idp.createUser('dan@acme.example', { title: '3' });
  const field = await idp.createGroup('field', [dan, bob]);
  await place.idle();
  await idp.patch(`/Users/${dan}`, { op: 'replace', path: 'title', value: 'high' });
  await place.idle();
  const explained = async (): Promise<string> => {
    const [{ summary, reasons }] = (await commands.run('explain', dan, '--json')).json;
    return [summary, ...reasons].join(' ');
  };
  expect(await explained()).toContain(`scim-bridge sync User:${dan}`);
  await idp.patch(`/Groups/${field}`, { op: 'remove', path: `members[value eq "${dan}"]` });
  await place.idle();
  // The value of the former refusal is corrected.
  await idp.patch(`/Users/${dan}`, { op: 'replace', path: 'title', value: '5' });
  await untilBehindHeld(dan);
  const { text, code } = await commands.run('sync', dan);
  expect(text).toMatch(/held: the guard holds the removal from 1 group: field: scim-bridge approvals show/);
  expect(code).toBe(2);
  const told = await explained();
  expect(told).toMatch(/The approval \S+ holds changes of its group field: scim-bridge approvals show/);
  const access = (await commands.run('verify-access', dan)).text;
  expect(access).toContain('a change waits to be applied: the guard holds the removal from field');
  for (const words of [told, access]) expect(words).not.toMatch(/AttributesNotWritten|cannot become|retry/);
}, 60_000);
