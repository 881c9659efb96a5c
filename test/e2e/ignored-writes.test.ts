// Tests writes that the platform answers with success and does not carry out: the log and explain name only what the answer
// shows, and the write is tried again.
import '../support/load-modules.ts';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';

let place: Place;
let front: Server;
/** Whether the PATCH of a user is answered with the unchanged user: `instead` of executing it, or as it was `before` it. */
let unchanged: 'instead' | 'before' | undefined;
/** Whether the server in front of the platform refuses to read users. */
let refusesReads = false;
const ids: string[] = [];

/** Starts a server that passes each request on, apart from ignored changes. */
async function startFront(platformUrl: string): Promise<string> {
  front = createServer((incoming, answer) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const isOfUser = incoming.method === 'PATCH' && (incoming.url ?? '').includes('/scim/v2/Users/');
      const how = isOfUser ? unchanged : undefined;
      if (refusesReads && incoming.method === 'GET' && (incoming.url ?? '').includes('/scim/v2/Users/')) {
        answer.writeHead(403, { 'content-type': 'application/json' }).end('{}');
        return;
      }
      const send = async (method: string | undefined, payload: Buffer) => {
        const { authorization = '' } = incoming.headers;
        const { statusCode, headers, body } = await request(`${platformUrl}${incoming.url ?? ''}`, {
          method: method as 'GET',
          headers: { authorization, 'content-type': incoming.headers['content-type'] ?? 'application/json' },
          ...(payload.length > 0 ? { body: payload } : {}),
        });
        return {
          statusCode,
          type: String(headers['content-type'] ?? ''),
          bytes: Buffer.from(await body.arrayBuffer()),
        };
      };
      const before = how && (await send('GET', Buffer.alloc(0)));
      const after = how === 'instead' ? undefined : await send(incoming.method, Buffer.concat(chunks));
      const shown = before ?? after;
      answer.writeHead(shown?.statusCode ?? 500, { 'content-type': shown?.type });
      answer.end(shown?.bytes);
    })();
  });
  await new Promise<void>((done) => front.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  place = await openPlace({});
  const url = await startFront(place.sandbox.ready.platformUrl);
  await place.change(({ targets: { main } }) => {
    main.url = url;
  });
  for (const name of [ANN, BOB]) ids.push(await place.idp.createUser(name));
  await place.idle();
});
afterAll(async () => {
  await place.stop();
  front.close();
});

const log = async (resource: string): Promise<any[]> =>
  (await place.commands.run('log', '--resource', resource, '--json')).text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .reverse();
const outputOf = async (...args: string[]): Promise<string> => (await place.commands.run(...args)).text;
const written = async (resource: string, operation: string): Promise<any[]> =>
  (await log(resource))
    .filter((entry) => entry.operation === operation)
    .map(({ members, provisioningStatusInfo: { status } }) => ({ members, status }));
const ignoreMembers = (times: number) =>
  place.platform.control('PATCH', '/faults', {
    rules: [{ method: 'PATCH', path: 'Groups', times, ignoreMembers: true }],
  });

test('the log names a member as added when the answer of the platform shows the member', async () => {
  await ignoreMembers(1);
  await place.idp.createGroup('crew', ids);
  await eventually(
    'the first answer is judged',
    async () => (await written('crew', 'addMembers')).length > 0,
  );
  await eventually('members', async () => (await place.platform.group('crew'))?.members.length === 2, 20_000);
  await place.idle();
  const entries = await written('crew', 'addMembers');
  expect(entries.map(({ status }) => status)).toEqual(['warning', 'success']);
  for (const { members } of entries) expect(members.toSorted()).toEqual(ids.toSorted());
  const timeline = await outputOf('explain', ANN, '--all');
  expect(timeline.match(/applied {3}added to the group crew/g)).toHaveLength(1);
  expect(timeline).toContain(
    'failed, tried again (addMembers): the platform answered success and left 2 of 2 members out',
  );
}, 60_000);

test('the log names a member as removed when the answer of the platform no longer shows the member', async () => {
  const [group] = (await place.platform.state()).groups.filter(({ displayName }) => displayName === 'crew');
  expect(group).toBeDefined();
  await ignoreMembers(1);
  const found = (await place.idp.send('GET', '/Groups?filter=displayName eq "crew"')) as any;
  const { id } = (found.body ?? found).Resources[0];
  await place.idp.patch(`/Groups/${id}`, { op: 'remove', path: `members[value eq "${ids[0] ?? ''}"]` });
  await eventually('removed', async () => (await place.platform.group('crew'))?.members.length === 1, 20_000);
  await place.idle();
  expect(await written('crew', 'removeMembers')).toEqual([
    { members: [ids[0]], status: 'warning' },
    { members: [ids[0]], status: 'success' },
  ]);
}, 60_000);

test('the log names an account as deactivated when the answer of the platform shows it as inactive', async () => {
  unchanged = 'instead';
  await place.idp.patch(`/Users/${ids[1] ?? ''}`, { op: 'replace', path: 'active', value: false });
  await eventually('tried', async () => (await written(BOB, 'deactivate')).length > 0);
  expect(await outputOf('explain', BOB, '--all')).toContain(
    'the platform answered success and left the account active',
  );
  expect((await place.commands.run('status', '--json')).json[0].dirty).toBe(1);
  unchanged = undefined;
  await eventually('closed', async () => (await place.platform.user(BOB))?.active === false, 20_000);
  await place.idle();
  const entries = await written(BOB, 'deactivate');
  expect(entries.map(({ status }) => status)).toEqual(['warning', 'success']);
  expect(await outputOf('explain', BOB, '--all')).toContain(`${BOB} is at main as desired`);
}, 60_000);

test('the answer to a write shows the former state → the account is read, and a write that was made is not repeated', async () => {
  unchanged = 'before';
  await place.idp.patch(`/Users/${ids[1] ?? ''}`, { op: 'replace', path: 'active', value: true });
  await eventually('open', async () => (await place.platform.user(BOB))?.active === true, 20_000);
  await place.idle();
  expect((await written(BOB, 'activate')).map(({ status }) => status)).toEqual(['success', 'success']);
}, 60_000);

test('the platform ignores a deactivation and the account cannot be read → the next push deactivates the account', async () => {
  await place.idp.patch(`/Users/${ids[1] ?? ''}`, { op: 'replace', path: 'active', value: false });
  await eventually('closed', async () => (await place.platform.user(BOB))?.active === false, 20_000);
  await place.idle();
  unchanged = 'before';
  refusesReads = true;
  await place.idp.patch(`/Users/${ids[1] ?? ''}`, { op: 'replace', path: 'active', value: true });
  await eventually('open', async () => (await place.platform.user(BOB))?.active === true, 20_000);
  unchanged = undefined;
  refusesReads = false;
  await place.idp.patch(`/Users/${ids[1] ?? ''}`, { op: 'replace', path: 'active', value: false });
  await eventually('closed again', async () => (await place.platform.user(BOB))?.active === false, 10_000);
}, 60_000);

test('the platform ignores each repetition of a write → reconcile ends as failed and names the reason', async () => {
  const others = [await place.idp.createUser('dan@acme.example')];
  await place.idle();
  await ignoreMembers(1000);
  await place.idp.createGroup('ignored', others);
  const { code, text } = await place.commands.run('reconcile', '--yes', '--deadline', '25s');
  expect(text).toContain('1 change not applied yet, tried again and again: ignored, the platform answered');
  expect(text).not.toContain('deadline');
  expect(code).toBe(1);
  const failing = /1 change fails since \S+Z: ignored, the platform answered success/;
  expect(await outputOf('status')).toMatch(failing);
  expect(await outputOf('doctor')).toMatch(failing);
  const explained = await outputOf('explain', 'ignored');
  expect(explained).toContain('does not arrive at main: the platform');
  expect(explained).not.toContain('nobody has to do anything');
}, 90_000);
