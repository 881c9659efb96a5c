// Tests deletions whose answer is lost, and deletions that the platform answers with success and does not carry out.
import '../support/load-modules.ts';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
let front: Server;
/**
 * Faults of the next deletions: the server in front of the platform drops the answer, or answers in place of the
 * platform.
 */
const faults: ('dropsAnswer' | 'ignores')[] = [];

/** Starts a server that passes each request on, apart from faulty deletions. */
async function startFront(platformUrl: string): Promise<string> {
  front = createServer((incoming, answer) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const fault = incoming.method === 'DELETE' ? faults.shift() : undefined;
      if (fault === 'ignores') {
        answer.writeHead(204).end();
        return;
      }
      const payload = Buffer.concat(chunks);
      const { statusCode, headers, body } = await request(`${platformUrl}${incoming.url ?? ''}`, {
        method: incoming.method as 'GET',
        headers: {
          authorization: incoming.headers.authorization ?? '',
          'content-type': incoming.headers['content-type'] ?? 'application/json',
        },
        ...(payload.length > 0 ? { body: payload } : {}),
      });
      const bytes = Buffer.from(await body.arrayBuffer());
      if (fault === 'dropsAnswer') {
        answer.destroy();
        return;
      }
      const type = headers['content-type'];
      answer.writeHead(statusCode, type === undefined ? {} : { 'content-type': String(type) });
      answer.end(bytes);
    })();
  });
  await new Promise<void>((done) => front.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  place = await openPlace({ target: { users: { deprovision: 'delete' } } });
  const url = await startFront(place.sandbox.ready.platformUrl);
  await place.change(({ targets: { main } }) => {
    main.url = url;
  });
});
afterAll(async () => {
  await place.stop();
  front.close();
});

const deletions = async (name: string): Promise<any[]> =>
  (await place.commands.run('log', '--action', 'delete', '--json')).text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((entry) => JSON.stringify(entry).includes(name))
    .map(({ provisioningStatusInfo: { status } }) => status)
    .reverse();
const lines = async (): Promise<string> => (await place.commands.run('log', '--action', 'delete')).text;

const CASES = [
  {
    what: 'user',
    make: (name: string) => place.idp.createUser(name),
    path: '/Users',
    there: (name: string): Promise<unknown> => place.platform.user(name),
  },
  {
    what: 'group',
    make: (name: string) => place.idp.createGroup(name),
    path: '/Groups',
    there: (name: string): Promise<unknown> => place.platform.group(name),
  },
];

describe.each(CASES)('the deletion of a $what', ({ what, make, path, there }) => {
  test('a deletion that the platform carries out and whose answer is lost is logged as done', async () => {
    const name = `lost-${what}@acme.example`;
    const id = await make(name);
    await place.idle();
    faults.push('dropsAnswer');
    expect((await place.idp.send('DELETE', `${path}/${id}`)).status).toBe(204);
    await place.idle();
    expect(await there(name)).toBeUndefined();
    expect(await deletions(name)).toEqual(['warning', 'success']);
    expect(await lines()).toContain('it was gone when the bridge looked again');
  });

  test('a deletion that the platform answers with 204 but does not make is repeated until it is made', async () => {
    const name = `left-${what}@acme.example`;
    const id = await make(name);
    await place.idle();
    faults.push('ignores');
    await place.idp.send('DELETE', `${path}/${id}`);
    await eventually('the deletion is carried out', async () => (await there(name)) === undefined);
    await place.idle();
    expect(await deletions(name)).toEqual(['warning', 'success']);
    expect(await lines()).toContain('the platform answered success and did not delete the ');
  });
});
