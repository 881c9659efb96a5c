// Tests reads of plan, reconcile and scheduled runs that are answered with 429 and Retry-After, and words about a pause of all calls.
import { setTimeout as sleep } from 'node:timers/promises';
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { eventually } from '../support/eventually.ts';
import { askHealth } from '../support/health.ts';
import { createScenarios } from '../support/scenario.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ADA = 'ada@acme.example';
const TIME = String.raw`20\d\d-\d\d-\d\dT[\d:.]+Z`;

const faults = ({ platform }: Place, body: object) => platform.control('PATCH', '/faults', body);
/** Answers reads with 429. @param path pattern of the paths; absent: all */
const limitReads = (place: Place, retryAfter: number, rule: { path?: string; times?: number } = {}) =>
  faults(place, { rules: [{ method: 'GET', times: 1e6, ...rule, status429: { share: 1, retryAfter } }] });

/** Lets the platform answer reads with 429 and `Retry-After: 5` while `run` begins, until 4 s after the first such answer. */
async function limitedWhile<T>(place: Place, run: () => Promise<T>): Promise<T> {
  await limitReads(place, 5);
  const running = run();
  await eventually('limited', async () =>
    (await place.platform.requests()).some(({ status }) => status === 429),
  );
  await sleep(4000);
  await faults(place, {});
  return running;
}

const test = createScenarios(
  async () => {
    const place = await openPlace({});
    await place.idp.createUser(ADA);
    await place.idle();
    await place.platform.forgetRequests();
    return place;
  },
  (place) => place.stop(),
);

for (const words of [['plan'], ['reconcile', '--yes']])
  test(`the platform answers all reads with 429 and Retry-After: 5 for 4 s → ${words[0]} tells that it waits, and succeeds`, async (place) => {
    const { code, errors } = await limitedWhile(place, () => place.commands.run(...words));
    expect([code, errors]).toEqual([0, expect.stringContaining('waits for the rate limit of the platform')]);
  }, 60_000);

test('the platform answers the read of one account with 429 and Retry-After: 2 → plan reads it again after this time, and shows the difference', async (place) => {
  const { scimId } = (await place.platform.user(ADA)) ?? {};
  const change = { op: 'replace', path: 'displayName', value: 'Changed' };
  await byHand(place, 'PATCH', `/Users/${scimId}`, change);
  await place.platform.forgetRequests();
  await limitReads(place, 2, { path: `/Users/${scimId}$`, times: 1 });
  expect((await place.commands.run('plan')).code).toBe(2);
  const reads = (await place.platform.requests()).filter(({ path }) => path.endsWith(`/Users/${scimId}`));
  const [limited, repeated] = reads;
  expect([limited?.status, repeated?.status]).toEqual([429, 200]);
  expect((repeated?.atMs ?? 0) - (limited?.atMs ?? 0)).toBeGreaterThanOrEqual(1900);
}, 60_000);

test('the platform answers all reads with 429 and Retry-After: 5 for 4 s → the run at the start of the service compares everything', async (place) => {
  const { last: before } = (await place.commands.run('status', '--json')).json[0].reconcile;
  await limitedWhile(place, () =>
    place.change(({ targets }) =>
      Object.assign(targets.main ?? {}, { users: { scope: 'userName sw "ada"' } }),
    ),
  );
  const last = await eventually(
    'the run has ended',
    async () => {
      const [row] = (await place.commands.run('status', '--json')).json;
      return row.reconcile.last?.endedAt !== before?.endedAt && row.reconcile.last;
    },
    20_000,
  );
  expect(last).toMatchObject({ outcome: 'converged' });
}, 60_000);

test('every read is answered with 429 and Retry-After: 60 → plan ends within 15 s and says since when', async (place) => {
  await limitReads(place, 60);
  const startedAt = Date.now();
  const { code, text } = await place.commands.run('plan');
  expect([code, text]).toEqual([
    1,
    expect.stringMatching(new RegExp(`The target main answers 429 since ${TIME}, last at ${TIME}`)),
  ]);
  expect(Date.now() - startedAt).toBeLessThan(15_000);
}, 60_000);

test('a change meets a 429 with Retry-After: 60 → /health names the pause, and explain does not say that its value was sent', async (place) => {
  const { commands, idp } = place;
  await faults(place, { status429: { share: 1, retryAfter: 60 } });
  await idp.createUser('bob@acme.example');
  await eventually('paused', async () => (await commands.run('status', '--json')).json[0].breaker.pause);
  const { body } = await askHealth({ app: place }, '/health');
  expect(body.components['target main'].findings).toEqual([
    expect.stringMatching(
      new RegExp(`^all calls pause until ${TIME}, because the platform asked for it \\(HTTP 429\\)$`),
    ),
  ]);
  const [{ id }] = (await commands.run('explain', ADA, '--json')).json;
  await idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Ada Two' });
  const reasons = await eventually('noted', async () => {
    const [told] = (await commands.run('explain', ADA, '--json')).json;
    return told.values.some(({ state }: { state: string }) => state === 'unsure') && told.reasons.join(' ');
  });
  expect(reasons).toContain(
    '1 value not sent yet, sent and not confirmed, or seen to differ: to be written.',
  );
}, 60_000);
