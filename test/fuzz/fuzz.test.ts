// Tests random hostile requests: no 5xx, bounded time, and valid stored data. FUZZ_SECONDS=600 npm run fuzz is longer;
// FUZZ_SEED=<printed seed> repeats a run.
import {
  SEARCH,
  startProfiles,
  type Client,
  type Json,
  type ProfileName,
} from '../contract/scim-conformance/client.ts';
import type { Bridge } from '../support/build-bridge.ts';
import { createChance } from './chance.ts';
import { createHostileRequests } from './hostile-requests.ts';
import { createWireAttacks } from './wire-attacks.ts';

const SECONDS = Number(process.env.FUZZ_SECONDS ?? 3);
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1e9);
const WORKERS = 4;
/** Smallest number of requests of each worker; a slow machine continues up to a minute longer. */
const ENOUGH = 2;
const PATIENCE_MS = 60_000;
/** Pause of each worker between two attacks over raw sockets. */
const ATTACK_EVERY_MS = 500;
/** Far longer than any request takes, also on a busy machine. */
const LONGEST_MS = 5000;

let bridge: Bridge;
let on: Record<ProfileName, Client>;
beforeAll(async () => {
  ({ bridge, on } = await startProfiles());
});
afterAll(() => bridge.stop());

async function sendRandomRequests(
  scim: Client,
  seed: number,
  until: number,
): Promise<{ sent: number; made: number }> {
  const known: string[] = [];
  const request = createHostileRequests(createChance(seed), known);
  // A separate random generator, because the number of requests between two attacks depends on the machine.
  const attack = createWireAttacks(createChance(seed), scim.root);
  let nextAttack = Date.now();
  let sent = 0;
  const isOver = (): boolean =>
    Date.now() >= until && (known.length >= ENOUGH || Date.now() >= until + PATIENCE_MS);
  for (; !isOver(); sent += 1) {
    if (Date.now() >= nextAttack) {
      const faults = await attack();
      if (faults.length > 0)
        throw new Error(`seed ${seed}, attack before request ${sent}: ${faults.join('\n')}`);
      nextAttack = Date.now() + ATTACK_EVERY_MS;
    }
    const { method, path, body, headers } = request();
    const what = `seed ${seed}, request ${sent}: ${method} ${path.slice(0, 200)} ${(JSON.stringify(body) ?? '').slice(0, 2000)}`;
    const began = performance.now();
    const answer = await scim.send(method, path, body, headers).catch((error: unknown) => {
      throw new Error(what, { cause: error });
    });
    const took = performance.now() - began;
    if (took > LONGEST_MS) throw new Error(`${what}: took ${took} ms`);
    const { id } = (answer.body ?? {}) as { id?: unknown };
    if (answer.status === 201 && typeof id === 'string') known.push(id);
  }
  return { sent, made: known.length };
}

/** Compares members as a set, without order. */
const inOrder = (resource: Json): Json => ({
  ...resource,
  ...(resource.members && {
    members: (resource.members as Json[]).map((each) => JSON.stringify(each)).sort(),
  }),
});

/** Expects that every stored resource can be read, found by its name, and stored again without a change. */
async function checkState(
  scim: Client,
  endpoint: '/Users' | '/Groups',
  name: 'userName' | 'displayName',
): Promise<void> {
  const seen = new Set<string>();
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const { status, body }: { status: number; body: Json } = await scim.get(
      `${endpoint}?count=200&cursor=${cursor}`,
    );
    expect(status).toBe(200);
    for (const resource of body.Resources as Json[]) {
      expect(seen.has(resource.id)).toBe(false);
      seen.add(resource.id);
      const path = `${endpoint}/${resource.id}`;
      const put = await scim.put(path, resource);
      expect({ path, status: put.status, body: inOrder(put.body) }).toEqual({
        path,
        status: 200,
        body: inOrder(resource),
      });
      // The filter is sent in a body, because some of these names are too long for a URL.
      const filter = `${name} eq ${JSON.stringify(resource[name])}`;
      const found = await scim.post(`${endpoint}/.search`, { schemas: [SEARCH], filter, count: 1000 });
      const ids = ((found.body.Resources ?? []) as Json[]).map(({ id }) => id as unknown);
      expect({ filter, status: found.status, ids }).toMatchObject({
        status: 200,
        ids: expect.arrayContaining([resource.id]),
      });
    }
    cursor = body.nextCursor;
  }
  expect((await scim.get(`${endpoint}?count=0`)).body.totalResults).toBe(seen.size);
}

test.each(['auto', 'rfc'] as const)(
  `under the profile %s random hostile requests get no 5xx and damage no stored data (seed ${SEED}, ${SECONDS} s)`,
  async (profile) => {
    const scim = on[profile];
    const until = Date.now() + SECONDS * 1000;
    const runs = await Promise.all(
      Array.from({ length: WORKERS }, (_, worker) => sendRandomRequests(scim, SEED + worker, until)),
    );
    const total = (of: 'sent' | 'made'): number => runs.reduce((sum, run) => sum + run[of], 0);
    expect(total('sent')).toBeGreaterThan(100);
    expect(total('made')).toBeGreaterThan(5);
    expect((await scim.get('/ServiceProviderConfig')).status).toBe(200);
    await checkState(scim, '/Users', 'userName');
    await checkState(scim, '/Groups', 'displayName');
  },
  SECONDS * 1000 + 120_000,
);
