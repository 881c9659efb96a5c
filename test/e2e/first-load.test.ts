// Tests that status shows the progress of a first load: done, rate, time left and bound, over all processes and until it ends.
import { startSandbox } from '../../src/sandbox/server.ts';
import '../support/load-modules.ts';
import { startBridgeProcess } from '../support/bridge-process.ts';
import { ADMIN_TOKEN, TOKEN } from '../support/build-bridge.ts';
import { createCommands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { createPlatformView } from '../support/platform-view.ts';
import { createScenarios } from '../support/scenario.ts';
import { scrape } from '../support/scrape.ts';
import { settingsFor } from '../support/settings.ts';

/** Opens a bridge process with a new platform. @returns functions that push people, set faults and read the status */
async function openLoad(target: object) {
  const sandbox = await startSandbox();
  const settings = settingsFor(sandbox, target);
  const commands = createCommands(settings);
  const bridge = await startBridgeProcess(settings);
  const idp = createIdp(bridge.baseUrl, TOKEN);
  /** Creates people, and returns their ids in the order of their pushes. */
  const push = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let from = 0; from < count; from += 20)
      ids.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(20, count - from) }, (_each, index) =>
            idp.createUser(`person${from + index}@acme.example`),
          ),
        )),
      );
    return ids;
  };
  const platform = createPlatformView(sandbox.ready.controlUrl);
  const faults = (body: object): Promise<unknown> => platform.control('PATCH', '/faults', body);
  const row = async () => (await commands.run('status', '--json')).json[0];
  const load = async () => (await row()).load;
  const stop = async (): Promise<void> => {
    await bridge.stop();
    commands.remove();
    await sandbox.stop();
  };
  return { bridge, commands, idp, platform, push, faults, row, load, stop };
}
type Load = Awaited<ReturnType<typeof openLoad>>;

const close = ({ stop }: Load): Promise<void> => stop();
const testAtRateLimit = createScenarios(
  () => openLoad({ rateLimit: { requestsPerSecond: 15, burst: 10 } }),
  close,
);
const testAtNoRateLimit = createScenarios(() => openLoad({}), close);
const testAtFourCalls = createScenarios(
  () =>
    openLoad({
      rateLimit: { requestsPerSecond: 1000, burst: 1000 },
      ...{ concurrency: 4, minConcurrency: 4, maxConcurrency: 4 },
    }),
  close,
);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

testAtRateLimit(
  'during a load of 400 users status estimates the time left within a factor of two, and names the rate limit as the bound',
  async ({ bridge, commands, push, row, load }) => {
    expect(await load()).toBeNull();
    expect((await scrape(bridge.port)).find('bridge_load_total')).toEqual([]);
    await push(400);
    await eventually('the rate is known', async () => (await load())?.secondsLeft > 0, 30_000);
    const told: { endsAt: number; at: number; total: number; bound: string }[] = [];
    let metric: number | undefined;
    let text = '';
    for (let found = await row(); found.load !== null; found = await row()) {
      const { load: progress, dirty } = found;
      expect(progress.done + dirty).toBe(progress.total);
      if (progress.secondsLeft > 10 && progress.done > 40)
        told.push({ ...progress, at: Date.now(), endsAt: Date.now() + progress.secondsLeft * 1000 });
      if (told.length === 2 && metric === undefined) {
        text = (await commands.run('status')).text;
        metric = (await scrape(bridge.port)).value('bridge_load_total', { target: 'main' });
        const answer = await fetch(`http://127.0.0.1:${bridge.port}/admin/v1/status`, {
          headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
        });
        expect(((await answer.json()) as { load: unknown }[])[0]?.load).toMatchObject({ bound: 'rateLimit' });
      }
      await pause(750);
    }
    const endedAt = Date.now();
    expect(told.length).toBeGreaterThan(3);
    for (const { at, endsAt, total } of told) {
      const share = (endsAt - at) / (endedAt - at);
      expect(share).toBeGreaterThan(0.5);
      expect(share).toBeLessThan(2);
      expect(total > 320 && total <= 400).toBe(true);
    }
    // A machine that is busy otherwise may send fewer calls than the limit allows for a moment; then another bound is named.
    const limited = told.filter(({ bound }) => bound === 'rateLimit').length;
    expect(limited / told.length).toBeGreaterThan(0.5);
    expect(text).toMatch(
      /loading since \S+: \d+ of \d+ done, [\d.]+ a second, about \d+ s left; the rate limit/,
    );
    expect(metric).toBe(told[0]?.total);
    await eventually('all are applied', async () => (await row()).dirty === 0);
    expect((await commands.run('status')).text).not.toContain('loading');
    expect((await scrape(bridge.port)).find('bridge_load_total')).toEqual([]);
  },
  240_000,
);

testAtRateLimit(
  'synced people are changed again during a load → the total of the load in status counts each of these once',
  async ({ commands, idp, platform, push, load }) => {
    const ids = (await push(160)).slice(0, 8);
    const isThere = async (index: number) => (await platform.user(`person${index}@acme.example`))?.active;
    await eventually('the first are done', async () => (await isThere(0)) && (await isThere(7)), 30_000);
    await commands.run('hold');
    for (const id of ids)
      await idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Second Name' });
    const { done, total } = await load();
    expect(total).toBeLessThanOrEqual(160);
    expect(done).toBeLessThan(160 - ids.length);
  },
  120_000,
);

testAtNoRateLimit(
  'the platform answers some calls of a load with 429, each of which pauses all calls → status names the rate limit as the bound of the load',
  async ({ push, faults, row }) => {
    await faults({ status429: { share: 0.12, retryAfter: 1 } });
    await push(300);
    await eventually('it is measured', async () => (await row()).load?.bound, 30_000);
    const bounds: (string | null)[] = [];
    // Two beats of the worker, which measures the bound.
    for (const endsAt = Date.now() + 10_000; Date.now() < endsAt; await pause(1000))
      bounds.push((await row()).load?.bound);
    // On a busy machine answers may be slow for a beat; then latency is the bound in fact.
    const limited = bounds.filter((bound) => bound === 'rateLimit').length;
    expect(limited / bounds.length).toBeGreaterThan(0.5);
  },
  120_000,
);

testAtFourCalls(
  'status names latency as the bound of a load at a slow platform, and the breaker at a failing one, and counts on after a worker is killed',
  async ({ bridge, commands, push, faults, load }) => {
    await faults({ latencyMs: [300, 300] });
    await push(400);
    await eventually('latency bounds it', async () => (await load())?.bound === 'latency', 30_000);
    await eventually('some are done', async () => (await load()).done > 10, 30_000);
    const before = await load();
    await bridge.killAndRestart();
    const after = await load();
    expect(after.done).toBeGreaterThanOrEqual(before.done);
    expect(after.since).toBe(before.since);
    await eventually('it goes on', async () => (await load()).done > after.done + 5, 40_000);

    await faults({ status5xx: { share: 1 } });
    const broken = await eventually(
      'the breaker bounds it',
      async () => {
        const found = await load();
        return found?.bound === 'breaker' && found;
      },
      30_000,
    );
    expect(broken.secondsLeft).toBeNull();
    expect((await commands.run('status')).text).toContain('the platform fails, so only probes are sent');

    await faults({});
    expect((await commands.run('hold')).code).toBe(0);
    expect(await load()).toMatchObject({ bound: 'hold', secondsLeft: null });
    expect((await commands.run('release')).code).toBe(0);
    await eventually('the load has ended', async () => (await load()) === null, 90_000);
  },
  240_000,
);

testAtNoRateLimit(
  'the platform answers every call of a first load with 429 → status names the rate limit as the bound',
  async ({ push, faults, row }) => {
    await faults({ status429: { share: 1, retryAfter: 3 } });
    await push(120);
    await eventually('calls pause', async () => (await row()).breaker.pause, 30_000);
    const whilePaused: (string | null)[] = [];
    for (const endsAt = Date.now() + 12_000; Date.now() < endsAt;) {
      const { load, breaker } = await row();
      if (breaker.pause?.until > Date.now() + 500) whilePaused.push(load.bound);
    }
    expect(new Set(whilePaused)).toEqual(new Set(['rateLimit']));
  },
  180_000,
);
