// Tests groups of the largest size that a body can hold, against a started process.
import { randomUUID } from 'node:crypto';
import { createClient, userBody, type Answer, type Client } from '../contract/scim-conformance/client.ts';
import { startSiege, TOKENS, type Siege } from './siege.ts';

const MEMBERS = 65_000;
/** Other tests may run at the same time. */
const LIMIT_MS = 180_000;

let siege: Siege;
let client: Client;
beforeAll(async () => {
  siege = await startSiege();
  client = createClient(siege.bridge.port, '/scim/v2', TOKENS.scim);
}, 120_000);
afterAll(() => siege.stop());

const members = (from: number): { value: string }[] =>
  Array.from({ length: MEMBERS }, (_, index) => ({ value: `person-${from + index}@groups.example` }));
const body = (displayName: string, from: number): object => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
  displayName,
  members: members(from),
});

/** A client that repeats a request after 503 is no failure of the attack. */
const statuses = (answers: Answer[]): number[] =>
  [...new Set(answers.map(({ status }) => status))].filter((status) => status !== 503);

test(
  'a group of 65,000 members can be stored twice, replaced, read, listed and deleted',
  async () => {
    await siege.withstand('a group of 65,000 members', async () => {
      const created = await client.post('/Groups', body('Everybody', 0));
      expect(created.status).toBe(201);
      const path = `/Groups/${created.body.id}`;
      for (const from of [0, 30_000, 65_000])
        expect((await client.put(path, body('Everybody', from))).status).toBe(200);
      expect((await client.get(path)).body.members).toHaveLength(MEMBERS);
      expect((await client.get('/Groups')).status).toBe(200);
      const filter = encodeURIComponent(`members.value eq "${members(65_000)[7]?.value}"`);
      expect((await client.get(`/Groups?filter=${filter}`)).body.totalResults).toBe(1);
      const value = members(65_000);
      expect((await client.patch(path, { op: 'remove', path: 'members', value })).status).toBe(204);
      expect((await client.patch(path, { op: 'add', path: 'members', value })).status).toBe(204);
      expect((await client.delete(path)).status).toBe(204);
    });
  },
  LIMIT_MS,
);

test(
  'four clients that store groups of 65,000 members at the same time get 200, and other clients are still served',
  async () => {
    await siege.withstand('four groups of 65,000 members at once', async () => {
      const groups = await Promise.all(Array.from({ length: 4 }, () => client.group(randomUUID())));
      const answers = await Promise.all(
        groups.map(({ id, displayName }, index) =>
          client.put(`/Groups/${id}`, body(displayName, index * 1000)),
        ),
      );
      expect(statuses(answers)).toEqual([200]);
    });
  },
  LIMIT_MS,
);

test(
  'POST, PATCH and DELETE of a user who is a member of 2,000 groups answer 201, 200 and 204, and the bridge stays responsive',
  async () => {
    await siege.withstand('a person of 2,000 groups', async () => {
      const value = 'everywhere@groups.example';
      for (let at = 0; at < 2000; at += 500) {
        const Operations = Array.from({ length: 500 }, (_, index) => ({
          method: 'POST',
          path: '/Groups',
          bulkId: `g${at + index}`,
          data: {
            schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
            displayName: `Everywhere ${at + index}`,
            members: [{ value }],
          },
        }));
        const schemas = ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'];
        expect((await client.post('/Bulk', { schemas, Operations })).status).toBe(200);
      }
      const created = await client.post('/Users', userBody(value));
      expect(created.status).toBe(201);
      const path = `/Users/${created.body.id}`;
      expect((await client.patch(path, { op: 'replace', path: 'title', value: 'x' })).status).toBe(200);
      expect((await client.delete(path)).status).toBe(204);
    });
  },
  LIMIT_MS,
);
