// Returns the alerts that fire for one scrape if the situation lasts as long as each alert requires. The expressions are
// tested in test/unit/helm.
import type { Scrape } from './scrape.ts';

const some = (now: Scrape, name: string, labels: Record<string, string> = {}): boolean =>
  now.find(name, labels).some(({ value }) => value > 0);
const finding = (name: string) => (now: Scrape) => some(now, 'bridge_fleet_findings', { finding: name });
/** Age in seconds at which a reconcile is too old: two gaps of the schedule and half an hour, as in the rules of the chart. */
const staleAfter = (now: Scrape): number =>
  2 * (now.find('bridge_reconcile_expected_gap_seconds')[0]?.value ?? Infinity) + 1800;

const DAY = 86_400;
const age = ({ value }: { value: number }): number => Date.now() / 1000 - value;
const expires = (now: Scrape, days: number): boolean =>
  now.find('bridge_token_expiry_timestamp_seconds').some((each) => each.value > 0 && -age(each) < days * DAY);

const ALERTS: Record<string, (now: Scrape) => boolean> = {
  RedisDown: (now) => now.value('bridge_redis_up') === 0,
  RedisNotPrimary: (now) => some(now, 'bridge_redis_role', { role: 'slave' }),
  RedisMemory: (now) => {
    const [used, most] = ['used', 'limit'].map(
      (each) => now.find(`bridge_redis_memory_${each}_bytes`)[0]?.value,
    );
    return used !== undefined && most !== undefined && used / most > 0.85;
  },
  OldestChange: (now) => some(now, 'bridge_outbox_oldest_seconds'),
  // A process without a worker does not export the time of the last fetch.
  NoWorker: (now) =>
    some(now, 'bridge_outbox_dirty') && now.find('bridge_worker_last_fetch_timestamp_seconds').length === 0,
  RoleMissing: (now) => ['noProcess', 'noApi', 'noWorker'].some((name) => finding(name)(now)),
  NoScheduler: finding('noScheduler'),
  VersionsDiffer: (now) => ['versionsDiffer', 'settingsDiffer'].some((name) => finding(name)(now)),
  TargetRemoved: finding('targetRemoved'),
  RedisRefuses: finding('redisRefuses'),
  RedisUnsafe: finding('redisUnsafe'),
  DataLost: finding('dataLost'),
  OldException: (now) =>
    now
      .find('bridge_exceptions_oldest_seconds')
      .some(({ labels, value }) => value > 0 && !['Protected', 'OnHold'].includes(labels.reason ?? '')),
  HoldForgotten: (now) => some(now, 'bridge_exceptions_oldest_seconds', { reason: 'OnHold' }),
  DeadLetters: (now) => some(now, 'bridge_dead_letters'),
  Conflicts: (now) => some(now, 'bridge_conflicts'),
  EventsRefused: (now) => some(now, 'bridge_events_refused'),
  EventsWait: (now) => some(now, 'bridge_events_oldest_seconds'),
  PlatformRefusesKey: (now) => some(now, 'bridge_platform_requests_total', { status: '401' }),
  BreakerOpen: (now) => some(now, 'bridge_breaker_open'),
  GuardHeld: (now) => some(now, 'bridge_guard_held'),
  ReconcileStale: (now) =>
    now
      .find('bridge_reconcile_last_success_timestamp_seconds')
      .some((each) => each.value > 0 && age(each) > staleAfter(now)),
  ReconcileFails: (now) => some(now, 'bridge_reconcile_failures'),
  // Above 0 while a first reconcile is awaited: if this lasts, the wait exceeds the limit of the alert.
  ReconcileNever: (now) => some(now, 'bridge_reconcile_awaited_since_timestamp_seconds'),
  DesiredMissing: (now) => some(now, 'bridge_coverage', { state: 'missing' }),
  DirectoryFaults: (now) => some(now, 'bridge_directory_faults'),
  LogBroken: (now) => some(now, 'bridge_log_broken'),
  DriftStays: (now) =>
    now.find('bridge_drift').some(({ labels, value }) => value > 0 && labels.kind !== 'unmanaged'),
  TokenExpires: (now) => expires(now, 30),
  TokenExpiresSoon: (now) => expires(now, 7),
};

/**
 * Alerts that one scrape cannot show: about the rate of requests, their duration, a service that is gone, or a CronJob
 * that kube-state-metrics watches.
 */
export const UNTOLD = [
  ...['Absent', 'InboundErrors', 'QuarantineRisk', 'Unauthorized', 'SlowAnswers', 'NoPushes', 'RedisSlow'],
  ...['DeactivationLag', 'Lag', 'PlatformErrors', 'ReconcileWrites', 'BackupMissing'],
];
export const TOLD = Object.keys(ALERTS);

/** Returns the names without `ScimBridge`. */
export const firingAlerts = (now: Scrape): string[] => TOLD.filter((name) => ALERTS[name]?.(now));
