// Tests scrapes that overlap: the metrics that all processes share are read once at a time.
import { createInstruments } from '../../../src/app/instruments.ts';
import type { MetricSources } from '../../../src/app/shared-metrics.ts';
import type { Config } from '../../../src/config/schema.ts';
import type { FleetReport } from '../../../src/ops/status/fleet.ts';

test('a scrape begins while an older one still reads Redis → both count each process once', async () => {
  let now = 0;
  const waiting: (() => void)[] = [];
  const fleet = (): Promise<FleetReport> =>
    new Promise((resolve) => {
      const report = { processes: [{ role: 'all', version: '1.0.0', silent: false }], findings: [] };
      waiting.push(() => resolve(report as unknown as FleetReport));
    });
  const sources = {
    pulse: () => Promise.resolve({ up: true, latencyMs: 1, role: 'master', memory: { used: 1, limit: 0 } }),
    backlogs: () => Promise.resolve([]),
    breaker: () => Promise.resolve({ open: false }),
    tokens: () => [],
    events: () => Promise.resolve([]),
    faults: () => Promise.resolve([]),
    logChecks: () => Promise.resolve([]),
    lastSweeps: () => new Map(),
    reconcileGapMs: null,
    fleet,
  } as unknown as MetricSources;
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  const { scrape } = createInstruments({ clock }, { config: { targets: {} } as Config, role: 'all' });
  const untilReading = () => new Promise((resolve) => setImmediate(resolve));
  const processesIn = (text: string): string[] =>
    text.split('\n').filter((line) => line.startsWith('bridge_processes{'));

  const first = scrape(sources);
  await untilReading();
  now += 5000;
  const second = scrape(sources);
  await untilReading();
  for (const answer of waiting.splice(0)) answer();
  const once = ['bridge_processes{role="all",version="1.0.0"} 1'];
  expect((await Promise.all([first, second])).map(processesIn)).toEqual([once, once]);

  const third = scrape(sources);
  await untilReading();
  for (const answer of waiting.splice(0)) answer();
  expect(processesIn(await third)).toEqual(once);
});
