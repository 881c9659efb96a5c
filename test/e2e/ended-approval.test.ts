// Tests what the reading commands say about an approval that ends before the platform takes the approved change: when it ends, and
// afterwards that the guard holds the change anew.
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const NONE = { count: 0, percent: 0 };

let place: Place;
let id: string;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: NONE } } });
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  id = await openId();
  await place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'PATCH', path: 'scim/v2/Users', times: 9999, status5xx: { share: 1, status: 503 } }],
  });
  await run('approvals', 'approve', id, '--yes');
  await eventually('the write has failed', async () =>
    (await run('explain', ANN, '--json')).json[0].link.attempts > 0 ? true : undefined,
  );
}, 60_000);
afterAll(() => place.stop());

const run = (...args: string[]) => place.commands.run(...args);
const openId = async (): Promise<string> => (await run('approvals', 'list', '--json')).json[0].id;
const heldEntries = async (person: string): Promise<string[]> =>
  (await run('log', '--status', 'held')).text.split('\n').filter((line) => line.includes(person));

/** Moves the end of the approval into the past, as 72 hours would. */
async function endApproval(): Promise<void> {
  const [approved, decisions] = [
    await place.key(':guardApproved:main:deactivate'),
    await place.key(':guardDecisions:main'),
  ];
  const [ref = ''] = await place.redis.zrange(approved, '0', '-1');
  const ended = Date.now() - 1000;
  await place.redis.zadd(approved, ended, ref);
  const decision = JSON.parse((await place.redis.lindex(decisions, 0)) ?? '{}');
  await place.redis.lset(decisions, 0, JSON.stringify({ ...decision, approvedUntil: ended }));
}

test('the platform fails an approved write → approvals and explain show when the approval ends', async () => {
  const ends =
    /the approval ends \S+Z \(in (?:72 h|71 h 59 min)\), then the guard judges anew what is not written/;
  const show = await run('approvals', 'show', id);
  expect(show.text).toContain('not written yet: 1 of 1; ');
  expect(show.text).toMatch(ends);
  expect((await run('approvals', 'list', '--all')).text).toMatch(ends);
  expect((await run('explain', ANN, '--all')).text).toMatch(
    /The approval ends \S+Z: the guard judges anew what is not written by then/,
  );
});

test('an approval ends before its change is written → the log has a second entry `held`, and `approvals show` with the former id says that nothing was written', async () => {
  expect(await heldEntries(ANN)).toHaveLength(1);
  await endApproval();
  await run('sync', ANN);
  await eventually('the guard holds the deactivation anew', async () =>
    (await run('approvals', 'list', '--json')).json.length > 0 ? true : undefined,
  );
  expect(await openId()).not.toBe(id);
  const entries = await heldEntries(ANN);
  expect(entries).toHaveLength(2);
  expect(entries[0]).toContain('anew: an earlier approval or hold ended');
  const explained = (await run('explain', ANN, '--all')).text;
  expect(explained).toContain('anew: an earlier approval or hold ended');
  expect(explained).not.toContain('The approval ends');
  const former = (await run('approvals', 'show', id)).text;
  expect(former).toMatch(/not written before the approval ended \S+Z: 1 of 1; the guard judges them anew/);
  const again = await run('approvals', 'approve', id, '--yes');
  expect([again.code, again.text]).toEqual([1, expect.stringContaining('Not written: 1, see')]);
}, 60_000);

test('a change that was held anew is approved and written → `approvals list --all` calls no change unwritten', async () => {
  await place.platform.control('PATCH', '/faults', { rules: [] });
  await run('approvals', 'approve', await openId(), '--yes');
  await place.idle();
  expect((await place.platform.user(ANN))?.active).toBe(false);
  expect((await run('approvals', 'list', '--all')).text).not.toContain('not written');
}, 60_000);

test('an approval expires without a decision → the next sync holds the change again with a second log entry, and orders with the former id name the new id', async () => {
  const bob = await place.idp.createUser(BOB);
  await place.idle();
  await place.idp.patch(`/Users/${bob}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  expect(await heldEntries(BOB)).toHaveLength(1);
  const former = await openId();
  await place.stopApps();
  await place.redis.hset(await place.key(':guardApproval:main'), 'expires', String(Date.now() - 1000));
  expect((await run('explain', BOB, '--all')).text).toContain(
    'the guard judges it anew with its next sync, which waits because no worker runs.',
  );
  expect((await run('approvals', 'show', former)).text).toContain(
    'the guard judges its changes anew, each with its next sync',
  );
  await place.start();
  await run('sync', BOB);
  expect(await heldEntries(BOB)).toHaveLength(2);
  const later = await openId();
  expect(later).not.toBe(former);
  for (const order of [
    ['show', former],
    ['approve', former, '--person', BOB, '--yes'],
    ['reject', former, '--yes'],
  ]) {
    const { code, text } = await run('approvals', ...order);
    expect([code, text]).toEqual([1, expect.stringContaining(`see scim-bridge approvals show ${later}.`)]);
  }
  await run('sync', BOB);
  expect(await heldEntries(BOB)).toHaveLength(2);
}, 60_000);
