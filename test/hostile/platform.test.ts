// Tests platform answers that exhaust memory, and plans of a whole directory, against a started process.
import { setTimeout as sleep } from 'node:timers/promises';
import { userBody } from '../contract/scim-conformance/client.ts';
import { startFront, type Front, type FrontAnswer } from '../support/front.ts';
import { burst, scimRequest, structure } from './attacks.ts';
import { PEOPLE, startSiege, TOKENS, type Siege } from './siege.ts';

const json = { 'content-type': 'application/json' };
const plan = scimRequest('POST /admin/v1/plan', TOKENS.admin);

describe('a platform that answers', () => {
  let siege: Siege;
  let front: Front;
  let body = '';
  beforeAll(async () => {
    front = await startFront();
    front.answer = (): FrontAnswer => ({ status: 200, headers: json, body });
    siege = await startSiege({ platformUrl: front.url });
  }, 120_000);
  afterAll(async () => {
    await siege.stop();
    front.stop();
  });

  test.each([
    ['9.9 MB of structure', () => structure(9_900_000)],
    ['a list of 9.9 MB of structure', () => `{"totalResults":1,"Resources":${structure(9_900_000)}}`],
    ['9.9 MB of brackets', () => '['.repeat(9_900_000)],
    ['one text of 60 MB', () => JSON.stringify({ id: 'x'.repeat(60_000_000) })],
  ])('a platform that answers %s leaves the service available', async (name, make) => {
    body = make();
    await siege.withstand(`a platform that answers ${name}`, async () => {
      const users = Array.from({ length: 20 }, (_, index) =>
        JSON.stringify(userBody(`p${index}@${name.replace(/\W/g, '')}`)),
      );
      const pushed = await burst(
        siege.bridge.port,
        users.map((user) => scimRequest('POST /scim/v2/Users', TOKENS.scim, user)),
      );
      expect(pushed.statuses).toEqual({ 201: 20 });
      await burst(siege.bridge.port, [plan]);
      await sleep(3000);
      return pushed;
    });
  });
});

test('four plans at once that each create every user leave the service available', async () => {
  const siege = await startSiege({ people: Math.ceil(PEOPLE * 0.4) });
  try {
    const { port } = siege.bridge;
    await siege.withstand('4 plans at once', async () => {
      const tally = await burst(port, [plan, plan, plan, plan]);
      const operations = async (): Promise<{ state: string }[]> => {
        const headers = { authorization: `Bearer ${TOKENS.admin}` };
        const answer = await fetch(`http://127.0.0.1:${port}/admin/v1/operations`, { headers });
        return (await answer.json()) as { state: string }[];
      };
      // Waits until all plans have ended.
      for (let tries = 0; tries < 300; tries++) {
        await sleep(200);
        if ((await operations()).every(({ state }) => state !== 'running')) break;
      }
      return tally;
    });
  } finally {
    await siege.stop();
  }
}, 120_000);
