// Tells which alerts fire by one scrape, once their time has passed. Alerts of rates of requests are left out: their
// expressions are tested in test/unit/helm.
import type { Scrape } from './scrape.ts';

const some = (now: Scrape, name: string, labels: Record<string, string> = {}): boolean =>
  now.find(name, labels).some(({ value }) => value > 0);

const ALERTS: Record<string, (now: Scrape) => boolean> = {
  RedisDown: (now) => now.value('bridge_redis_up') === 0,
  BreakerOpen: (now) => some(now, 'bridge_breaker_open'),
  PlatformRefusesKey: (now) => some(now, 'bridge_platform_requests_total', { status: '401' }),
  OldestChange: (now) => some(now, 'bridge_outbox_oldest_seconds'),
  RoleMissing: (now) =>
    ['noProcess', 'noApi', 'noWorker'].some((finding) => some(now, 'bridge_fleet_findings', { finding })),
  NoScheduler: (now) => some(now, 'bridge_fleet_findings', { finding: 'noScheduler' }),
  VersionsDiffer: (now) => some(now, 'bridge_fleet_findings', { finding: 'versionsDiffer' }),
  OldException: (now) =>
    now
      .find('bridge_exceptions_oldest_seconds')
      .some(({ labels, value }) => value > 0 && !['Protected', 'OnHold'].includes(labels.reason ?? '')),
  HoldForgotten: (now) => some(now, 'bridge_exceptions_oldest_seconds', { reason: 'OnHold' }),
  DeadLetters: (now) => some(now, 'bridge_dead_letters'),
  GuardHeld: (now) => some(now, 'bridge_guard_held'),
  ReconcileNever: (now) =>
    now.find('bridge_reconcile_last_success_timestamp_seconds').some(({ value }) => value === 0),
  ReconcileStale: (now) =>
    now
      .find('bridge_reconcile_last_success_timestamp_seconds')
      .some(({ value }) => value > 0 && Date.now() / 1000 - value > 24 * 3600),
  DriftStays: (now) => some(now, 'bridge_drift'),
  DesiredMissing: (now) => some(now, 'bridge_coverage', { state: 'missing' }),
};

/** Returns the names without `ScimBridge`. */
export const firingAlerts = (now: Scrape): string[] =>
  Object.keys(ALERTS).filter((name) => ALERTS[name]?.(now));
