// Tests concurrent writers of one user and of one group: no change is lost, and no answer is 5xx.
import { GROUP, startApi, USER, type Client } from './client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

const WRITERS = 50;
const writers = Array.from({ length: WRITERS }, (_, index) => index);
const patchOf = (operation: object): object => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [operation],
});

let bridge: Bridge;
let scim: Client;
beforeAll(async () => {
  ({ bridge, scim } = await startApi());
});
afterAll(() => bridge.stop());

test('50 concurrent PATCHes that each add a value to one user without If-Match lose no value', async () => {
  const { id, meta } = await scim.user('patched@corp.example');
  const value = (index: number): string => `+49 ${index}`;
  const answers = await Promise.all(
    writers.map((index) =>
      scim.patch(`/Users/${id}`, {
        op: 'add',
        path: 'phoneNumbers',
        value: [{ value: value(index), type: 'work' }],
      }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const { body } = await scim.get(`/Users/${id}`);
  const found = (body.phoneNumbers as { value: string }[]).map((each) => each.value);
  expect(found.sort()).toEqual(writers.map(value).sort());
  expect(meta.version).toBe('W/"1"');
  expect(body.meta.version).toBe(`W/"${WRITERS + 1}"`);
});

test('50 concurrent PATCHes of members of one group without If-Match are all applied', async () => {
  const users = await Promise.all(writers.map((index) => scim.user(`member-${index}@corp.example`)));
  const leaver = await scim.user('leaver@corp.example');
  const ids = users.map(({ id }) => id as string);
  const { id } = await scim.group('Everybody', [leaver.id]);
  const answers = await Promise.all(
    ids.map((member, index) =>
      scim.patch(
        `/Groups/${id}`,
        { op: 'add', path: 'members', value: [{ value: member }] },
        ...(index === 7 ? [{ op: 'remove', path: `members[value eq "${leaver.id}"]` }] : []),
      ),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
  const { body } = await scim.get(`/Groups/${id}`);
  expect((body.members as { value: string }[]).map(({ value }) => value).sort()).toEqual([...ids].sort());
});

test.each(['PUT', 'PATCH'])(
  'of 50 concurrent %s of one user with the same If-Match one answers 200, and all others 412',
  async (method) => {
    const userName = `${method.toLowerCase()}-once@corp.example`;
    const { id, meta } = await scim.user(userName);
    const answers = await Promise.all(
      writers.map((index) => {
        const displayName = `writer ${index}`;
        const body =
          method === 'PUT'
            ? { schemas: [USER], userName, displayName }
            : patchOf({ op: 'replace', path: 'displayName', value: displayName });
        return scim.send(method, `/Users/${id}`, body, { 'if-match': meta.version });
      }),
    );
    const winners = answers.filter(({ status }) => status === 200);
    expect(winners).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(WRITERS - 1);
    const { body } = await scim.get(`/Users/${id}`);
    expect(body).toEqual(winners[0]?.body);
  },
);

test('50 clients that increase a counter in one user and retry on 412 bring the counter to 50', async () => {
  const { id } = await scim.user('counted@corp.example', { title: '0' });
  let refused = 0;
  const increase = async (): Promise<void> => {
    for (let attempt = 0; attempt < 500; attempt += 1) {
      const { body } = await scim.get(`/Users/${id}`);
      const change = patchOf({ op: 'replace', path: 'title', value: String(Number(body.title) + 1) });
      const { status } = await scim.send('PATCH', `/Users/${id}`, change, { 'if-match': body.meta.version });
      if (status === 200) return;
      expect(status).toBe(412);
      refused += 1;
      // Clients wait a random time before a retry; without the wait only one client would succeed per round.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
    }
    throw new Error('never got through');
  };
  await Promise.all(writers.map(increase));
  expect((await scim.get(`/Users/${id}`)).body.title).toBe(String(WRITERS));
  expect(refused).toBeGreaterThan(0);
}, 60_000);

test('of 50 concurrent PUTs of one group with the same If-Match one answers 200, and all others 412', async () => {
  const { id, meta } = await scim.group('Contested');
  const answers = await Promise.all(
    writers.map((index) =>
      scim.put(
        `/Groups/${id}`,
        { schemas: [GROUP], displayName: `Contested ${index}` },
        { 'if-match': meta.version },
      ),
    ),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 412)).toHaveLength(WRITERS - 1);
});

test('of concurrent POSTs of one user one answers 201 and the others 409; of concurrent DELETEs one answers 204 and the others 404', async () => {
  const body = { schemas: [USER], userName: 'same@corp.example' };
  const made = await Promise.all(writers.map(() => scim.post('/Users', body)));
  const created = made.filter(({ status }) => status === 201);
  expect(created).toHaveLength(1);
  expect(made.filter(({ status }) => status === 409)).toHaveLength(WRITERS - 1);
  const gone = await Promise.all(writers.map(() => scim.delete(`/Users/${created[0]?.body.id}`)));
  expect(gone.filter(({ status }) => status === 204)).toHaveLength(1);
  expect(gone.filter(({ status }) => status === 404)).toHaveLength(WRITERS - 1);
});
