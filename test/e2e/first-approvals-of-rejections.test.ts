// Tests the first of two approvals of rejected changes: when it ends, and how an operator takes it back.
import '../support/load-modules.ts';
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = ['ann@acme.example', 'bob@acme.example', 'cid@acme.example'] as const;
const [ANN, BOB] = NAMES;

let place: Place;
/** Id of the rejection of three deactivations. */
let id: string;
beforeEach(async () => {
  const guard = { approvers: 2, deactivate: { count: 0, percent: 0 } };
  place = await openPlace({ target: { guard } });
  const ids: string[] = [];
  for (const name of NAMES) ids.push(await place.idp.createUser(name));
  await place.idle();
  for (const user of ids)
    await place.idp.patch(`/Users/${user}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await decide('reject', id);
}, 60_000);
afterEach(() => place.stop());

/** Gives an order under a name of an operator, which is another one for each approval. */
async function decide(action: string, approval: string, ...options: string[]) {
  const answer = await place.commands.run('approvals', action, approval, '--yes', ...options);
  await place.idle();
  return answer;
}
const list = async (): Promise<string> => (await place.commands.run('approvals', 'list', '--all')).text;
const standing = async (): Promise<number> =>
  (await place.commands.run('approvals', 'list', '--all', '--json')).json.find(
    ({ state }: { state: string }) => state === 'rejected',
  ).stillRejected;

/** Approves a part of the rejection as the first person. @returns id of the first approval */
async function approveFirst(...names: string[]): Promise<string> {
  const persons = names.flatMap((name) => ['--person', name]);
  const { json } = await decide('approve', id, ...persons, '--by', 'eva', '--json');
  expect(json.outcome).toBe('noted');
  return json.id;
}

test('the rejection of a change with a first approval is withdrawn → `approvals list` no longer names this first approval, and a second person cannot complete it', async () => {
  const first = await approveFirst(ANN);
  const second = await approveFirst();
  expect(await list()).toContain(`a second person approves ${first}`);
  await decide('withdraw', id, '--person', ANN, '--person', BOB);
  // One of three changes is still rejected, and the first approval of all of them covers that one.
  expect(await list()).not.toContain(first);
  expect(await list()).toContain(`a second person approves ${second}`);
  expect((await decide('approve', first, '--by', 'fay')).code).toBe(1);
  expect((await decide('withdraw', id, '--person', NAMES[2])).text).toContain(
    'The first approval of 3 changes, by eva, ended with this decision.',
  );
  expect(await list()).toContain('still rejected: 0 of 3');
  expect(await list()).not.toContain('a second person');
}, 60_000);

test('a rejected change of one person has a first approval → explain of this person names it, and explain of another person does not', async () => {
  const first = await approveFirst(ANN);
  const asks = (id: string): RegExp =>
    new RegExp(`eva approved 1 change .*: a second person approves .*${id}`);
  const explained = async (name: string): Promise<string> =>
    (await place.commands.run('explain', name)).text.replaceAll(/\s+/g, ' ');
  expect(await explained(ANN)).toMatch(asks(first));
  expect(await explained(BOB)).not.toContain('a second person approves');
  await decide('approve', first, '--by', 'fay');
  expect(await explained(ANN)).not.toContain('a second person approves');
}, 60_000);

test('one of two required operators approves the rejected removal of a member → explain of the group and of the member names the first approval', async () => {
  await place.change(({ targets }) =>
    Object.assign(targets.main.guard ?? {}, { removeMembers: { count: 0, percent: 0 } }),
  );
  const dan = await place.idp.createUser('dan@acme.example');
  const crew = await place.idp.createGroup('crew', [dan]);
  await place.idle();
  await place.idp.patch(`/Groups/${crew}`, { op: 'remove', path: 'members' });
  await place.idle();
  const [{ id: removal }] = (await place.commands.run('approvals', 'list', '--json')).json;
  await decide('reject', removal);
  await decide('approve', removal, '--by', 'eva');
  for (const name of ['crew', 'dan@acme.example']) {
    const [{ firstApprovals }] = (await place.commands.run('explain', name, '--json')).json;
    expect(firstApprovals).toMatchObject([{ id: removal, by: 'eva', total: 1 }]);
  }
}, 60_000);

test('the first approval of a part of a rejection is withdrawn → only the first approval is taken back, and all changes stay rejected', async () => {
  const first = await approveFirst(ANN);
  const { code, text } = await decide('withdraw', first);
  expect([code, text]).toEqual([0, `Withdrawn: the first approval of ${first}. The changes stay rejected.`]);
  expect(await standing()).toBe(3);
  expect(await list()).not.toContain('a second person');
}, 60_000);

test('a rejection and its first approval have one id → the first withdraw takes the first approval back, and a second one withdraws the rejection', async () => {
  expect(await approveFirst()).toBe(id);
  expect((await decide('withdraw', id)).text).toContain('The changes stay rejected.');
  expect(await standing()).toBe(3);
  expect((await decide('withdraw', id)).text).toContain(`Withdrawn: 3 of ${id}`);
  expect(await standing()).toBe(0);
}, 60_000);

test('the settings now require one approver → withdraw of a rejection with a first approval withdraws the rejection', async () => {
  await approveFirst();
  await place.change(({ targets }) => Object.assign(targets.main.guard ?? {}, { approvers: 1 }));
  expect((await decide('withdraw', id)).text).toContain(`Withdrawn: 3 of ${id}`);
}, 60_000);

test('two operators approve rejected changes by an id without its last part → the first approval is stored, and the second one completes it', async () => {
  const short = id.replace(/-\d+$/, '');
  expect(short).not.toBe(id);
  expect((await decide('approve', short, '--by', 'eva', '--json')).json.outcome).toBe('noted');
  expect((await decide('approve', short, '--by', 'tom', '--json')).json.outcome).toBe('decided');
  expect((await place.platform.user(ANN))?.active).toBe(false);
}, 60_000);

/** Holds the three deactivations anew, and rejects them in three decisions. @returns ids of the rejections: two parts and the rest */
async function rejectInParts(): Promise<[part: string, otherPart: string, rest: string]> {
  await decide('withdraw', id);
  const [{ id: anew }] = (await place.commands.run('approvals', 'list', '--json')).json;
  const { items } = (await place.commands.run('approvals', 'show', anew, '--json')).json;
  // The change that was held last stays in the rest, so that the rest has the id of the whole list.
  await decide('reject', anew, '--person', items[0].name);
  await decide('reject', anew, '--person', items[1].name);
  await decide('reject', anew);
  const { json: all } = await place.commands.run('approvals', 'list', '--all', '--json');
  const [rest, otherPart, part] = all
    .filter(({ stillRejected }: { stillRejected?: number }) => stillRejected === 1)
    .map((each: { id: string }) => each.id);
  expect(rest).toBe(anew);
  return [part, otherPart, rest];
}

/** Returns the ids of the first approvals that `approvals list --all` shows under each of the given approvals. */
async function firstsUnder(...approvals: string[]): Promise<string[][]> {
  const { json } = await place.commands.run('approvals', 'list', '--all', '--json');
  return approvals.map((approval) => {
    const found = json.find((each: { id: string }) => each.id === approval);
    return (found.firstApprovals ?? []).map((first: { id: string }) => first.id);
  });
}

test('a list is rejected in parts, and one part has a first approval → `approvals list --all` shows it under this part alone', async () => {
  const [part, otherPart, rest] = await rejectInParts();
  await decide('approve', part, '--by', 'eva');
  expect(await firstsUnder(part, otherPart, rest)).toEqual([[part], [], []]);
  await decide('approve', rest, '--by', 'eva');
  expect(await firstsUnder(part, otherPart, rest)).toEqual([[part], [], [rest]]);
}, 60_000);

test('a second approval decides all changes of another first approval → `approvals approve` names the ended one, and not the completed one', async () => {
  const ofAnn = await approveFirst(ANN);
  const ofTwo = await approveFirst(ANN, BOB);
  const { text } = await decide('approve', ofTwo, '--by', 'fay');
  expect(text).toContain('The first approval of 1 change, by eva, ended with this decision.');
  expect(text).not.toContain('The first approval of 2 changes');
  expect(await list()).not.toContain(`a second person approves ${ofAnn}`);
  await approveFirst(NAMES[2]);
  const { json } = await decide('approve', (await firstsUnder(id))[0]?.[0] ?? '', '--by', 'fay', '--json');
  expect(json).toMatchObject({ outcome: 'decided', endedFirstApprovals: [] });
}, 60_000);
