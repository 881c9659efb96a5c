// Tests the findings about the fleet: missing roles, silent processes, differing versions.
import { agreeOn, announced } from '../../../src/directory/fleet/announced-rules.ts';
import type { FleetProcess, FleetView } from '../../../src/directory/fleet/fleet-store.ts';
import { fleetFindings, fleetText, processText } from '../../../src/ops/status/fleet-text.ts';
import { judgeFleet } from '../../../src/ops/status/fleet.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const MINUTE = 60_000;

type Announced = FleetView['processes'][number];
const one = (role: FleetProcess['role'], change: Partial<Announced> = {}): Announced => ({
  id: `${role}1`,
  role,
  version: '1.0.0',
  host: `host-${role}`,
  port: 8080,
  pid: 7,
  startedAt: NOW - 60 * MINUTE,
  sentAt: NOW - 2000,
  lastBeatAt: NOW - 2000,
  beatAgeMs: 2000,
  silent: false,
  ...change,
});
const silent = (role: FleetProcess['role']): FleetProcess =>
  one(role, { sentAt: NOW - MINUTE, lastBeatAt: NOW - MINUTE, beatAgeMs: MINUTE, silent: true });

const view = (processes: FleetProcess[], change: Partial<FleetView> = {}): FleetView => ({
  now: NOW,
  processes,
  lastBeats: Object.fromEntries(['api', 'worker', 'scheduler'].map((duty) => [duty, silent('all')])),
  versionsDifferSince: null,
  settingsDifferSince: null,
  emptiedAfter: null,
  ...change,
});
const kinds = (of: FleetView, isScheduled = true): string[] =>
  judgeFleet(of, { isScheduled }).findings.map(({ finding, level }) => `${finding} ${level}`);

test.each<[string, string[], FleetProcess[], boolean]>([
  ['one process of role all', [], [one('all')], true],
  ['one process of each role', [], [one('api'), one('worker'), one('scheduler')], true],
  ['no worker', ['noWorker error'], [one('api'), one('scheduler')], true],
  ['no scheduler while a schedule is set', ['noScheduler error'], [one('api'), one('worker')], true],
  ['no scheduler without a schedule', [], [one('api'), one('worker')], false],
  ['no process that takes pushes', ['noApi error'], [one('worker'), one('scheduler')], true],
  [
    'a silent process as the only worker',
    ['noWorker error', 'silent warning'],
    [one('api'), silent('worker')],
    false,
  ],
  ['a silent process as one of two workers', ['silent warning'], [one('all'), silent('worker')], true],
  ['no process at all', ['noProcess error'], [], true],
])('a fleet with %s has the findings %j', (_name, expected, processes, isScheduled) => {
  expect(kinds(view(processes), isScheduled)).toEqual(expected);
});

test.each([
  ['1 process', [one('all')]],
  ['1 process, 1 silent', [one('api'), silent('worker')]],
  ['no process runs, 1 silent', [silent('all')]],
  ['no process runs', []],
])('the summary of the fleet counts silent processes separately: %s', (expected, processes) => {
  expect(fleetText({ processes, findings: [] })).toBe(expected);
});

test('Redis takes no writes → this is the only finding about the processes, because none can announce itself', () => {
  const refusal = { reason: 'it is a replica', advice: 'Point redis.url at the primary.' };
  const { findings } = judgeFleet(view([silent('all')]), { isScheduled: true, refusal });
  expect(findings.map(({ finding, level }) => `${finding} ${level}`)).toEqual(['redisRefuses error']);
  expect(fleetText({ processes: [silent('all')], findings })).toBe(
    'unknown, because Redis takes no writes: 1 process announced itself before',
  );
  expect(findings[0]?.message).toContain('Redis takes no writes (it is a replica)');
});

test('unsafe Redis settings are a finding while a process runs; while none runs, the only finding is that no process runs', () => {
  const faults = [
    {
      message: 'Redis may evict keys (maxmemory-policy allkeys-lru)',
      advice: 'Set maxmemory-policy noeviction.',
    },
  ];
  const kindsOf = (processes: FleetProcess[]): string[] =>
    judgeFleet(view(processes), { isScheduled: true, faults }).findings.map(({ finding }) => finding);
  expect(kindsOf([one('all')])).toEqual(['redisUnsafe']);
  expect(kindsOf([])).toEqual(['noProcess']);
});

test.each([
  [true, 'nobody takes pushes, no worker and no scheduler runs'],
  [false, 'nobody takes pushes and no worker runs'],
])(
  'no process runs → the finding names a missing scheduler only if a schedule is set (isScheduled: %s)',
  (isScheduled, consequence) => {
    const { findings } = judgeFleet(view([], { lastBeats: {} }), { isScheduled });
    expect(findings[0]?.message).toBe(
      `no process of the bridge has run with this Redis and prefix yet: ${consequence}`,
    );
  },
);

test('no process has ever run → the finding noProcess is a warning', () => {
  const { findings } = judgeFleet(view([], { lastBeats: {} }), { isScheduled: true });
  expect(findings).toMatchObject([{ finding: 'noProcess', level: 'warning' }]);
  expect(findings[0]?.advice).toBe('Start scim-bridge serve.');
});

test('no process has ever had a role → the finding about the role names no last process', () => {
  const { findings } = judgeFleet(view([one('api')], { lastBeats: { api: one('api') } }), {
    isScheduled: false,
  });
  expect(findings).toMatchObject([
    { message: 'no worker runs: changes are stored and not applied', level: 'error' },
  ]);
});

test('a process had a role before → the finding about the role names this process and its last heartbeat', () => {
  const [finding] = judgeFleet(view([one('api')]), { isScheduled: false }).findings;
  expect(finding?.message).toBe(
    'no worker has run since 2026-03-01T11:59:00.000Z (the last was host-all, version 1.0.0): changes are stored and not applied',
  );
  expect(finding?.advice).toContain('serve --role worker');
});

test('two versions of the bridge run for 15 minutes → a finding names the hosts of each version', () => {
  const both = [one('api'), one('worker', { version: '1.1.0' }), one('scheduler', { version: '1.1.0' })];
  expect(kinds(view(both, { versionsDifferSince: NOW - 14 * MINUTE }))).toEqual([]);
  const { findings } = judgeFleet(view(both, { versionsDifferSince: NOW - 16 * MINUTE }), {
    isScheduled: true,
  });
  expect(findings.map(({ message }) => message)).toEqual([
    '2 versions run since 2026-03-01T11:44:00.000Z: 1.0.0 (api host-api), 1.1.0 (worker host-worker, scheduler host-scheduler)',
  ]);
});

describe('settings that differ', () => {
  const feeds = (rules: string, others: string) => ({
    rules: announced([
      { connection: 'default', target: 'main', rules, others },
      { connection: 'default', target: 'side', rules: 'same', others: 'same' },
    ]),
  });
  const main = { connection: 'default', target: 'main', rules: 'r1' };
  const since = (minutes: number) => ({ settingsDifferSince: NOW - minutes * MINUTE });

  test.each([
    ['other rules', feeds('r2', 'g1'), false],
    ['the same rules and other limits of the guard', feeds('r1', 'g2'), true],
  ])(
    'a process runs with %s for 15 minutes → a finding names the target and the hosts',
    (_name, other, hasSameRules) => {
      const both = [one('all', feeds('r1', 'g1')), one('worker', other)];
      expect(agreeOn(both, main)).toBe(hasSameRules);
      expect(kinds(view(both, since(14)))).toEqual([]);
      const { findings, processes } = judgeFleet(view(both, since(16)), { isScheduled: true });
      expect(findings.map(({ message }) => message)).toEqual([
        'processes run with different settings of main since 2026-03-01T11:44:00.000Z: all host-all; worker host-worker',
      ]);
      expect(JSON.stringify(processes)).not.toContain('rules');
    },
  );

  test('a silent process with other settings gives no finding about different settings', () => {
    const old = { ...silent('worker'), ...feeds('r2', 'g1') };
    expect(kinds(view([one('all', feeds('r1', 'g1')), old], since(60)))).toEqual(['silent warning']);
  });

  test("processes disagree on a target's settings if one lacks the target or announces no settings", () => {
    const own = one('all', feeds('r1', 'g1'));
    const side = {
      rules: announced([{ connection: 'default', target: 'side', rules: 'same', others: 'same' }]),
    };
    expect(agreeOn([own], main)).toBe(true);
    expect(agreeOn([own, side], main)).toBe(false);
    expect(agreeOn([own, {}], main)).toBe(false);
  });
});

test('a silent process with another version does not count as a second version', () => {
  const old = { ...silent('worker'), version: '0.9.0' };
  expect(kinds(view([one('all'), old], { versionsDifferSince: NOW - 60 * MINUTE }))).toEqual([
    'silent warning',
  ]);
});

test('eight silent processes give five findings, and the last finding has the number of omitted processes', () => {
  const many = Array.from({ length: 8 }, (_, index) => ({ ...silent('worker'), id: `w${index}` }));
  const { findings } = judgeFleet(view([one('all'), ...many]), { isScheduled: true });
  expect(findings).toHaveLength(5);
  expect(findings.at(-1)?.message).toContain('(3 more are silent)');
});

test('doctor prints a line for each process that beats, and for each finding', () => {
  const report = judgeFleet(view([one('api'), silent('worker')]), { isScheduled: false });
  expect(fleetFindings(report).map(({ area, level, message }) => `${area} ${level} ${message}`)).toEqual([
    `fleet ok ${processText(one('api'))}`,
    expect.stringContaining('fleet error no worker has run since'),
    expect.stringContaining('fleet warning worker host-worker (process 7) is silent since'),
  ]);
  expect(processText(one('api'))).toBe(
    'api host-api (process 7), version 1.0.0, started 2026-03-01T11:00:00.000Z, last beat 2 s ago',
  );
});
