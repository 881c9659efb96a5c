// Tests that `approvals withdraw` takes back the rejection that its id names, and no other rejection of the same list.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = ['ann@acme.example', 'bob@acme.example', 'cid@acme.example', 'dan@acme.example'] as const;
const [ANN, BOB, CID, DAN] = NAMES;

let place: Place;
const ids = new Map<string, string>();
beforeEach(async () => {
  const none = { count: 0, percent: 0 };
  place = await openPlace({ target: { guard: { deactivate: none, removeMembers: none } } });
  for (const name of NAMES) ids.set(name, await place.idp.createUser(name));
  await place.idle();
});
afterEach(() => place.stop());

async function leave(...names: string[]): Promise<void> {
  for (const name of names)
    await place.idp.patch(`/Users/${ids.get(name) ?? ''}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
}

const approvals = async (): Promise<any[]> =>
  (await place.commands.run('approvals', 'list', '--all', '--json')).json;
const heldId = async (): Promise<string> => (await approvals()).find(({ state }) => state === 'held').id;
const rejectionOf = async (person: string): Promise<string> =>
  (await approvals()).find(({ state, selection }) => state === 'rejected' && selection?.includes(person)).id;

async function decide(action: 'approve' | 'reject' | 'withdraw', id: string, ...person: string[]) {
  const selection = person.flatMap((name) => ['--person', name]);
  const { code, json } = await place.commands.run(
    ...['approvals', action, id, ...selection, '--yes', '--json'],
  );
  await place.idle();
  return { code, items: json?.items };
}

/** Returns what waits for a person: `<name> Held` or `<name> Rejected`. */
const exceptions = async (): Promise<string[]> =>
  (await place.commands.run('exceptions', '--json')).json
    .map(({ name, reason }: { name: string; reason: string }) => `${name} ${reason}`)
    .sort();

test('two parts of an approval are rejected → the rejections have different ids, and withdraw of one leaves the other rejected', async () => {
  await leave(ANN, BOB, CID);
  const id = await heldId();
  await decide('reject', id, ANN);
  await decide('reject', id, BOB);
  const [ofAnn, ofBob] = [await rejectionOf(ANN), await rejectionOf(BOB)];
  expect(ofAnn).not.toBe(ofBob);
  await expect(decide('withdraw', ofBob)).resolves.toEqual({ code: 0, items: 1 });
  await expect(exceptions()).resolves.toEqual([`${ANN} Rejected`, `${BOB} Held`, `${CID} Held`]);
  // The rejected part can be approved by its id while other changes of the list are held.
  await expect(decide('approve', ofAnn)).resolves.toEqual({ code: 0, items: 1 });
  await expect(exceptions()).resolves.toEqual([`${BOB} Held`, `${CID} Held`]);
  expect((await place.platform.user(ANN))?.active).toBe(false);
});

test('approvals show and list print how many changes of a rejection are still rejected', async () => {
  await leave(ANN, BOB, CID);
  const id = await heldId();
  await decide('reject', id);
  await decide('withdraw', id, ANN);
  expect((await place.commands.run('approvals', 'show', id)).text).toContain('still rejected: 2 of 3');
  const { json: shown } = await place.commands.run('approvals', 'show', id, '--json');
  expect(shown).toMatchObject({ state: 'rejected', total: 3, stillRejected: 2 });
  const { text } = await place.commands.run('approvals', 'list', '--all');
  const lineOf = (state: string) => text.split('\n').find((line) => line.includes(`  ${state}  `));
  expect(lineOf('rejected')).toContain('still rejected: 2 of 3');
  expect(lineOf('withdrawn')).not.toContain('still rejected');
  expect((await approvals()).map(({ state, stillRejected }) => [state, stillRejected])).toEqual([
    ['held', undefined],
    ['withdrawn', undefined],
    ['rejected', 2],
  ]);
  await decide('withdraw', id);
  expect((await place.commands.run('approvals', 'list', '--all')).text).toContain('still rejected: 0 of 3');
});

test('approvals withdraw with --person ends the rejection of this person, and without --person all rejections of the approval', async () => {
  await leave(ANN, BOB, CID);
  const id = await heldId();
  for (const name of [ANN, BOB, CID]) await decide('reject', id, name);
  await expect(decide('withdraw', id, BOB)).resolves.toEqual({ code: 0, items: 1 });
  await expect(exceptions()).resolves.toEqual([`${ANN} Rejected`, `${BOB} Held`, `${CID} Rejected`]);
  await expect(decide('withdraw', id)).resolves.toEqual({ code: 0, items: 2 });
  await expect(exceptions()).resolves.toEqual([`${ANN} Held`, `${BOB} Held`, `${CID} Held`]);
});

test('approvals withdraw with an approval id finds rejections of single persons made before the approval grew or shrank', async () => {
  // One after the other, so that CID gets the last place in the list.
  for (const name of [ANN, BOB, CID]) await leave(name);
  const first = await heldId();
  await decide('reject', first, ANN);
  await decide('reject', first, CID);
  // CID had the last place, so the list has another id now.
  const shorter = await heldId();
  expect(shorter).not.toBe(first);
  await expect(decide('withdraw', shorter, CID)).resolves.toEqual({ code: 0, items: 1 });
  await leave(DAN);
  await expect(decide('withdraw', await heldId())).resolves.toEqual({ code: 0, items: 1 });
  await expect(exceptions()).resolves.toEqual(NAMES.map((name) => `${name} Held`));
});

test('approvals withdraw of the rejection of a whole approval keeps an earlier rejection of one person, and prints its id', async () => {
  await leave(ANN, BOB, CID);
  const id = await heldId();
  await decide('reject', id, ANN);
  await decide('reject', id);
  const { text: refused } = await place.commands.run('approvals', 'withdraw', id, '--person', ANN, '--yes');
  expect(refused).toContain(`Nothing of the rejection ${id} fits (only person ${ANN})`);
  const { text } = await place.commands.run('approvals', 'withdraw', id, '--yes');
  await place.idle();
  expect(text).toContain(`Withdrawn: 2 of ${id}`);
  expect(text).toContain(`Still rejected: ${await rejectionOf(ANN)}.`);
  await expect(exceptions()).resolves.toEqual([`${ANN} Rejected`, `${BOB} Held`, `${CID} Held`]);
});

test('an approval is rejected, grows and is rejected again → each of the two rejections is withdrawn by its own id', async () => {
  await leave(ANN);
  const first = await heldId();
  await leave(BOB, CID);
  const rest = await heldId();
  await decide('reject', first);
  await decide('reject', rest);
  await leave(DAN);
  await expect(decide('withdraw', first)).resolves.toEqual({ code: 0, items: 1 });
  await expect(exceptions()).resolves.toEqual([
    ...[`${ANN} Held`, `${BOB} Rejected`, `${CID} Rejected`, `${DAN} Held`],
  ]);
  // The rejections of BOB and CID belong to the second list, so the id of the first one has nothing left to withdraw.
  await expect(decide('withdraw', first)).resolves.toMatchObject({ code: 1 });
});

test('other removals of an approval are approved → the exception about a rejected removal keeps the time of the rejection', async () => {
  const crew = await place.idp.createGroup('crew', [ids.get(ANN) ?? '', ids.get(BOB) ?? '']);
  await place.idle();
  await place.idp.send('PUT', `/Groups/${crew}`, { displayName: 'crew', members: [] });
  await place.idle();
  const id = await heldId();
  await decide('reject', id, ANN);
  await decide('approve', id);
  expect((await place.platform.group('crew'))?.members).toEqual([ANN]);
  const rejected = (await approvals()).find(({ state }) => state === 'rejected');
  const { json: found } = await place.commands.run('exceptions', '--json');
  expect(found).toMatchObject([{ name: 'crew', reason: 'Rejected', since: rejected.at }]);
});
