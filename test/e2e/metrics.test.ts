// Tests the metrics that a running bridge serves.
import { PRIORITIES } from '../../src/directory/records.ts';
import { METRICS } from '../../src/support/metrics.ts';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { eventually } from '../support/eventually.ts';
import { createIdp } from '../support/idp.ts';
import { parseScrape, scrape, type Scrape } from '../support/scrape.ts';

let bridge: Bridge;
beforeAll(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      config.server.metricsPort = 0;
      config.reconcile.schedule = null;
      const [token] = config.connections.default?.tokens ?? [];
      if (token) token.expiresAt = '2031-01-01T00:00:00Z';
    },
  });
});
afterAll(() => bridge.stop());

const look = (): Promise<Scrape> => scrape(bridge.app.metricsPort);
const untilSynced = () =>
  eventually('all applied', async () => {
    const now = await look();
    return now.value('bridge_outbox_dirty', { target: 'main' }) === 0 ? now : undefined;
  });

test('a scrape has every metric of the bridge with type and help text, and process metrics without a process label', async () => {
  const found = await look();
  for (const { name, type, help } of Object.values(METRICS)) {
    expect([name, found.types.get(name)]).toEqual([name, type]);
    expect(found.help.get(name)).toBe(help);
  }
  expect(found.sum('bridge_build_info', { role: 'all' })).toBe(1);
  expect(found.value('process_cpu_seconds_total')).toBeGreaterThan(0);
  // A metric without labels has exactly one series, so its labels cannot contain a process name.
  expect(found.find('nodejs_eventloop_lag_p99_seconds')).toHaveLength(1);
});

test('with server.metricsPort the metrics are served on that port only, which serves nothing else', async () => {
  const main = await fetch(`http://127.0.0.1:${bridge.app.port}/metrics`);
  expect(main.status).toBe(404);
  for (const path of ['/scim/v2/Users', '/livez', '/']) {
    expect((await fetch(`http://127.0.0.1:${bridge.app.metricsPort}${path}`)).status).toBe(404);
  }
});

test('a push increases the metrics of requests, lag, writes, calls and waits, and the backlog metric is 0 afterwards', async () => {
  const before = await untilSynced();
  const id = await bridge.idp.createUser('seen@acme.example');
  const after = await eventually('the lag is counted', async () => {
    const now = await look();
    const lag = { target: 'main', priority: 'new' };
    const grown = (name: string): number => now.sum(name, lag) - before.sum(name, lag);
    return grown('bridge_sync_lag_seconds_count') === 1 ? now : undefined;
  });
  const grown = (name: string, labels: Record<string, string>): number =>
    after.sum(name, labels) - before.sum(name, labels);
  const inbound = { connection: 'default', operation: 'create', status: '201' };
  expect(grown('bridge_http_requests_total', inbound)).toBe(1);
  expect(grown('bridge_http_request_seconds_count', { connection: 'default' })).toBe(1);
  const write = { target: 'main', resource: 'user', outcome: 'applied' };
  expect(grown('bridge_sync_operations_total', { ...write, operation: 'create user' })).toBe(1);
  const call = { target: 'main', resource: 'users', method: 'POST', status: '201' };
  expect(grown('bridge_platform_requests_total', call)).toBe(1);
  const calls = grown('bridge_platform_requests_total', { target: 'main' });
  expect(grown('bridge_platform_request_seconds_count', { target: 'main' })).toBe(calls);
  expect(grown('bridge_rate_wait_seconds_count', { target: 'main' })).toBe(calls);
  expect(after.value('bridge_token_last_used_timestamp_seconds', { token: 'primary' })).toBeGreaterThan(
    Date.now() / 1000 - 60,
  );
  await bridge.idp.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' });
  const left = await eventually('the deactivation is counted', async () => {
    const now = await look();
    return now.sum('bridge_sync_lag_seconds_count', { priority: 'deactivation' }) > 0 ? now : undefined;
  });
  expect(left.sum('bridge_profile_deviations_total', { connection: 'default' })).toBeGreaterThan(0);
});

test('the metrics report the state of Redis, tokens and workers', async () => {
  const now = await look();
  expect(now.value('bridge_redis_up')).toBe(1);
  expect(now.value('bridge_redis_role', { role: 'master' })).toBe(1);
  expect(now.value('bridge_redis_role', { role: 'slave' })).toBe(0);
  expect(now.value('bridge_redis_latency_seconds')).toBeLessThan(5);
  const token = { connection: 'default', token: 'primary' };
  expect(now.value('bridge_token_expiry_timestamp_seconds', token)).toBe(Date.parse('2031-01-01') / 1000);
  const fetched = now.value('bridge_worker_last_fetch_timestamp_seconds', { target: 'main' });
  expect(Math.abs(fetched - Date.now() / 1000)).toBeLessThan(30);
});

test('wrong tokens and unknown addresses raise the quarantine risk metric, with a bounded number of series', async () => {
  const stranger = createIdp(`http://127.0.0.1:${bridge.app.port}/scim/v2`, 'a-wrong-token-of-some-length');
  const before = await look();
  for (let n = 0; n < 30; n++) {
    await stranger.send('GET', `/Users/${n}`);
    await bridge.idp.send('GET', `/Users/nobody-${n}`);
    await fetch(`http://127.0.0.1:${bridge.app.port}/wp-${n}/admin.php`);
    await bridge.idp.send('GET', `/strange-${n}/${n}`);
  }
  const after = await look();
  const grown = (labels: Record<string, string>): number =>
    after.sum('bridge_http_requests_total', labels) - before.sum('bridge_http_requests_total', labels);
  expect(grown({ connection: 'default', operation: 'get', status: '401' })).toBe(30);
  expect(grown({ connection: 'default', operation: 'get', status: '404' })).toBe(30);
  expect(grown({ connection: 'default', operation: 'other', status: '404' })).toBe(30);
  expect(grown({ connection: 'none', operation: 'other', status: '404' })).toBe(30);
  // Requests of scanners and operators belong to no connection, so they have no quarantine risk.
  expect(after.find('bridge_quarantine_risk').map(({ labels }) => labels.connection)).toEqual(['default']);
  expect(after.find('bridge_http_request_seconds_count', { connection: 'none' })).toEqual([]);
  // 60 of about 90 requests failed; the lookups of unknown users are not failures.
  const risk = after.value('bridge_quarantine_risk', { connection: 'default' });
  expect(risk).toBeGreaterThan(0.4);
  expect(risk).toBeLessThan(0.67);
  expect(after.samples.length - before.samples.length).toBeLessThan(30);
});

test('requests at a wrong SCIM base URL raise the quarantine risk metric under the connection label `none`', async () => {
  const risk = async () => (await look()).find('bridge_quarantine_risk', { connection: 'none' });
  await fetch(`http://127.0.0.1:${bridge.app.port}/admin.php?from=/scim/v2/Users`);
  expect(await risk()).toEqual([]);
  for (const root of ['/connections/former/scim/v2', '/scim/V2/scim/v2', '/api/SCIM/v2', '/scim', ''])
    for (let n = 0; n < 5; n++)
      await fetch(`http://127.0.0.1:${bridge.app.port}${root}/Users`, { method: 'POST', body: '{}' });
  expect(await risk()).toMatchObject([{ value: 1 }]);
});

test('every process exports the metrics read from Redis, and only workers export the time of the last fetch', async () => {
  const api = await bridge.another('api');
  // A sync may end between two scrapes.
  const names = ['bridge_outbox_dirty', 'bridge_dead_letters', 'bridge_breaker_open', 'bridge_hold'];
  const both = async () => [await look(), await scrape(api.metricsPort)] as const;
  const valuesOf = (of: Awaited<ReturnType<typeof look>>) =>
    names.map((name) => of.value(name, { target: 'main' }));
  await eventually('both processes show the same', async () => {
    const [one, other] = await both();
    return JSON.stringify(valuesOf(one)) === JSON.stringify(valuesOf(other));
  });
  const [here, there] = await both();
  expect(there.find('bridge_worker_last_fetch_timestamp_seconds')).toEqual([]);
  expect(here.find('bridge_worker_last_fetch_timestamp_seconds')).toHaveLength(1);
});

test('an idle worker exports the lag of each priority with 0 observations, and a process without a worker exports no lag', async () => {
  const [worker, api] = [await bridge.another('worker'), await bridge.another('api')];
  const counts = (await scrape(worker.metricsPort)).find('bridge_sync_lag_seconds_count', { target: 'main' });
  expect(counts.map(({ labels, value }) => [labels.priority, value])).toEqual(
    PRIORITIES.map((priority) => [priority, 0]),
  );
  expect((await scrape(api.metricsPort)).find('bridge_sync_lag_seconds_count')).toEqual([]);
});

test.each([
  ['a label that does not end', 'a{b="c} 1\n'],
  ['a value that is no number', '# TYPE a gauge\na one\n'],
  ['a series without its type', 'a 1\n'],
  ['the same series twice', '# TYPE a gauge\na{x="1",y="2"} 1\na{y="2",x="1"} 2\n'],
])('the metrics parser of the tests refuses %s', (_what, text) => {
  expect(() => parseScrape(text)).toThrow();
});
