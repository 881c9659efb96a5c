// Defines the metrics of a healthy bridge, and the changes of each alert's situation, in promtool's notation
// (`a+bxn`).

export interface Situation {
  /** Changed series, found by parts of their names; `+` before a whole name adds one, null removes one. */
  changes: Record<string, string | null>;
  /** Alerts that fire; all others must not. */
  fires: string[];
}

const LAG = ['deactivation', 'edit'].flatMap((priority) =>
  ['1', '60', '300', '+Inf'].map((le) => [`bridge_sync_lag_seconds_bucket{target="main",priority="${priority}",le="${le}"}`, '0+5x600']),
);
const DEFAULT = 'connection="default"';
const CALL = 'target="main",resource="users",method="PATCH"';

const CRONJOB = 'cronjob="bridge-scim-bridge-backup"';
/** Returns the time of the full hour before, some hours later, minute by minute for ten hours. */
const hourly = (later: number): string =>
  Array.from({ length: 10 }, (_, hour) => `${(hour + later) * 3600}x59`).join(' ');
const HOURLY = hourly(0);

export const HEALTHY: Record<string, string> = {
  'bridge_redis_up{instance="1"}': '1x600',
  'bridge_redis_role{instance="1",role="master"}': '1x600',
  'bridge_redis_latency_seconds{instance="1"}': '0.001x600',
  'bridge_redis_memory_used_bytes{instance="1"}': '40x600',
  'bridge_redis_memory_limit_bytes{instance="1"}': '100x600',
  [`bridge_http_requests_total{${DEFAULT},operation="patch",status="200"}`]: '0+60x600',
  [`bridge_http_requests_total{${DEFAULT},operation="patch",status="401"}`]: '0x600',
  [`bridge_http_requests_total{${DEFAULT},operation="patch",status="503"}`]: '0x600',
  [`bridge_http_request_seconds_bucket{${DEFAULT},le="0.1"}`]: '0+60x600',
  [`bridge_http_request_seconds_bucket{${DEFAULT},le="5"}`]: '0+60x600',
  [`bridge_http_request_seconds_bucket{${DEFAULT},le="+Inf"}`]: '0+60x600',
  [`bridge_quarantine_risk{${DEFAULT}}`]: '0.01x600',
  ...Object.fromEntries(LAG),
  'bridge_outbox_oldest_seconds{target="main"}': '2x600',
  'bridge_outbox_dirty{target="main"}': '3x600',
  'bridge_worker_last_fetch_timestamp_seconds{target="main"}': '0+60x600',
  'bridge_dead_letters{target="main"}': '0x600',
  'bridge_conflicts{target="main"}': '0x600',
  [`bridge_platform_requests_total{${CALL},status="200"}`]: '0+60x600',
  [`bridge_platform_requests_total{${CALL},status="401"}`]: '0x600',
  [`bridge_platform_requests_total{${CALL},status="409"}`]: '0+30x600',
  [`bridge_platform_requests_total{${CALL},status="503"}`]: '0x600',
  'bridge_breaker_open{target="main"}': '0x600',
  [`bridge_events_oldest_seconds{${DEFAULT}}`]: '2x600',
  [`bridge_events_refused{${DEFAULT}}`]: '0x600',
  'bridge_guard_held{target="main",kind="deactivate"}': '0x600',
  'bridge_reconcile_last_success_timestamp_seconds{target="main"}': '1+60x600',
  'bridge_reconcile_expected_gap_seconds{instance="1"}': '1800x600',
  'bridge_reconcile_failures{target="main"}': '0x600',
  'bridge_reconcile_writes_total{target="main",kind="update"}': '4x600',
  [`bridge_directory_faults{${DEFAULT}}`]: '0x600',
  [`bridge_log_broken{${DEFAULT},log="acts"}`]: '0x600',
  'bridge_fleet_findings{finding="noApi"}': '0x600',
  'bridge_fleet_findings{finding="noWorker"}': '0x600',
  'bridge_fleet_findings{finding="noScheduler"}': '0x600',
  'bridge_fleet_findings{finding="versionsDiffer"}': '0x600',
  'bridge_fleet_findings{finding="targetRemoved"}': '0x600',
  'bridge_fleet_findings{finding="settingsDiffer"}': '0x600',
  'bridge_coverage{target="main",resource="users",state="missing"}': '0x600',
  'bridge_drift{target="main",kind="update",attribution="other"}': '0x600',
  // Times begin at 0 here; this is 60 days.
  [`bridge_token_expiry_timestamp_seconds{${DEFAULT},token="primary"}`]: '5184000x600',
  // A backup each hour, for ten hours.
  [`kube_cronjob_created{${CRONJOB}}`]: '0x600',
  [`kube_cronjob_status_last_schedule_time{${CRONJOB}}`]: HOURLY,
  [`kube_cronjob_next_schedule_time{${CRONJOB}}`]: hourly(1),
  [`kube_cronjob_status_last_successful_time{${CRONJOB}}`]: HOURLY,
};

export const SITUATIONS: Record<string, Situation> = {
  'all is well': { changes: {}, fires: [] },
  'every tenth answer is a 503': {
    changes: { 'http_requests status="503"': '0+7x600' },
    fires: ['ScimBridgeInboundErrors'],
  },
  'a quarter of the requests fail': {
    changes: { quarantine_risk: '0.25x600' },
    fires: ['ScimBridgeQuarantineRisk'],
  },
  'two calls a minute with a wrong token': {
    changes: { 'http_requests status="401"': '0+2x600' },
    fires: ['ScimBridgeUnauthorized'],
  },
  'answers take up to five seconds': {
    changes: { 'http_request_seconds le="0.1"': '0x600' },
    fires: ['ScimBridgeSlowAnswers'],
  },
  'the admin API answers 502 and wrong addresses are called': {
    changes: {
      '+bridge_http_requests_total{connection="none",operation="other",status="502"}': '0+30x600',
      '+bridge_http_requests_total{connection="none",operation="other",status="404"}': '0+30x600',
    },
    fires: [],
  },
  'the admin API is called twice a minute with a wrong token': {
    changes: { '+bridge_http_requests_total{connection="none",operation="other",status="401"}': '0+2x600' },
    fires: ['ScimBridgeUnauthorized'],
  },
  'Redis goes away': { changes: { redis_up: '1x500 0x100' }, fires: ['ScimBridgeRedisDown'] },
  'the primary becomes a replica': {
    changes: {
      'redis_role role="master"': '1x500 0x100',
      '+bridge_redis_role{instance="1",role="slave"}': '0x500 1x100',
    },
    fires: ['ScimBridgeRedisNotPrimary'],
  },
  'Redis refuses writes': {
    changes: { '+bridge_fleet_findings{instance="1",finding="redisRefuses"}': '0x500 1x100' },
    fires: ['ScimBridgeRedisRefuses'],
  },
  'Redis may evict keys': {
    changes: { '+bridge_fleet_findings{instance="1",finding="redisUnsafe"}': '0x500 1x100' },
    fires: ['ScimBridgeRedisUnsafe'],
  },
  'Redis came back empty': {
    changes: { '+bridge_fleet_findings{instance="1",finding="dataLost"}': '0x500 1x100' },
    fires: ['ScimBridgeDataLost'],
  },
  'Redis needs half a second': { changes: { redis_latency: '0.5x600' }, fires: ['ScimBridgeRedisSlow'] },
  'deactivations take minutes': {
    changes: { 'deactivation le="1"': '0x600', 'deactivation le="60"': '0x600' },
    fires: ['ScimBridgeDeactivationLag'],
  },
  'edits take minutes': {
    changes: { 'edit le="1"': '0x600', 'edit le="60"': '0x600' },
    fires: ['ScimBridgeLag'],
  },
  'one change never ends': { changes: { outbox_oldest: '0+60x600' }, fires: ['ScimBridgeOldestChange'] },
  'the workers stop': { changes: { last_fetch: '0+60x500 30000x100' }, fires: ['ScimBridgeNoWorker'] },
  'there never was a worker': { changes: { last_fetch: null }, fires: ['ScimBridgeNoWorker'] },
  'the last worker is stopped while nothing waits': {
    changes: { 'fleet_findings noWorker': '0x500 1x100' },
    fires: ['ScimBridgeRoleMissing'],
  },
  'nobody starts the scheduled runs': {
    changes: { 'fleet_findings noScheduler': '1x600' },
    fires: ['ScimBridgeNoScheduler'],
  },
  'an update stops halfway': {
    changes: { 'fleet_findings versionsDiffer': '0x500 1x100' },
    fires: ['ScimBridgeVersionsDiffer'],
  },
  'a target is taken out of the settings while people have accounts there': {
    changes: { 'fleet_findings targetRemoved': '0x500 1x100' },
    fires: ['ScimBridgeTargetRemoved'],
  },
  'an update of the settings stops halfway': {
    changes: { 'fleet_findings settingsDiffer': '0x500 1x100' },
    fires: ['ScimBridgeVersionsDiffer'],
  },
  'a person is refused': { changes: { dead_letters: '2x600' }, fires: ['ScimBridgeDeadLetters'] },
  'Redis is nearly full': {
    changes: { redis_memory_used: '90x600' },
    fires: ['ScimBridgeRedisMemory'],
  },
  'Redis has no limit of its memory': {
    changes: { redis_memory_used: '90x600', redis_memory_limit: '_x600' },
    fires: [],
  },
  'an operator forgot to release a target': {
    changes: { '+bridge_exceptions_oldest_seconds{target="main",reason="OnHold"}': '0+60x600' },
    fires: ['ScimBridgeHoldForgotten'],
  },
  'a receiver refuses an event': { changes: { events_refused: '1x600' }, fires: ['ScimBridgeEventsRefused'] },
  'no reconcile ever succeeded': {
    changes: {
      reconcile_last_success: '0x600',
      '+bridge_reconcile_awaited_since_timestamp_seconds{target="main"}': '1x600',
    },
    fires: ['ScimBridgeReconcileNever'],
  },
  'no reconcile ever succeeded, and the first of a daily schedule is not long ago': {
    changes: {
      reconcile_last_success: '0x600',
      expected_gap: '86400x600',
      '+bridge_reconcile_awaited_since_timestamp_seconds{target="main"}': '1x600',
    },
    fires: [],
  },
  'no reconcile ever succeeded, and no schedule expects one': {
    changes: { reconcile_last_success: '0x600', expected_gap: null },
    fires: [],
  },
  'backups fail from now on': {
    changes: { status_last_successful_time: '0x59 3600x540' },
    fires: ['ScimBridgeBackupMissing'],
  },
  'no backup ever succeeded': {
    changes: { status_last_successful_time: null },
    fires: ['ScimBridgeBackupMissing'],
  },
  'the first time of the backups passed hours ago, and no job was ever created': {
    changes: {
      status_last_successful_time: null,
      status_last_schedule_time: null,
      next_schedule_time: '10800x600',
    },
    fires: ['ScimBridgeBackupMissing'],
  },
  'the first of the daily backups has not come yet': {
    changes: {
      status_last_successful_time: null,
      status_last_schedule_time: null,
      next_schedule_time: '86400x600',
    },
    fires: [],
  },
  'backups are daily, and the last one is ten hours old': {
    changes: {
      status_last_successful_time: '0x600',
      status_last_schedule_time: '0x600',
      next_schedule_time: '86400x600',
    },
    fires: [],
  },
  'backups are suspended': {
    changes: { status_last_successful_time: '0x600', status_last_schedule_time: '0x600', next_schedule_time: null },
    fires: [],
  },
  'a receiver is away': { changes: { events_oldest: '0+60x600' }, fires: ['ScimBridgeEventsWait'] },
  'the platform key is revoked': {
    changes: { 'platform_requests status="401"': '0x580 0+4x20' },
    fires: ['ScimBridgePlatformRefusesKey'],
  },
  'a third of the calls fail': {
    changes: { 'platform_requests status="503"': '0+45x600' },
    fires: ['ScimBridgePlatformErrors'],
  },
  'the breaker opens': { changes: { breaker_open: '0x500 1x100' }, fires: ['ScimBridgeBreakerOpen'] },
  'a mass removal is held': { changes: { guard_held: '80x600' }, fires: ['ScimBridgeGuardHeld'] },
  'reconcile fails from now on': {
    changes: { reconcile_last_success: '1+60x400 24001x200' },
    fires: ['ScimBridgeReconcileStale'],
  },
  'reconcile fails from now on, on a daily schedule': {
    changes: { reconcile_last_success: '1+60x400 24001x200', expected_gap: '86400x600' },
    fires: [],
  },
  'two reconciles in a row fail': {
    changes: { reconcile_failures: '0x500 2x100' },
    fires: ['ScimBridgeReconcileFails'],
  },
  'every reconcile writes again': {
    changes: { reconcile_writes: '0+2x600' },
    fires: ['ScimBridgeReconcileWrites'],
  },
  'derived data differs from the records': {
    changes: { directory_faults: '2x600' },
    fires: ['ScimBridgeDirectoryFaults'],
  },
  'an entry of a log was altered': {
    changes: { log_broken: '1x600' },
    fires: ['ScimBridgeLogBroken'],
  },
  'somebody desired is missing after a run': {
    changes: { bridge_coverage: '3x600' },
    fires: ['ScimBridgeDesiredMissing'],
  },
  'an attribute has another type at the platform': {
    changes: { bridge_conflicts: '8x600' },
    fires: ['ScimBridgeConflicts'],
  },
  'members whom others added are left alone': {
    changes: { '+bridge_drift{target="main",kind="unmanaged",attribution="platform changed"}': '5x600' },
    fires: [],
  },
  'drift is reported and stays': { changes: { bridge_drift: '5x600' }, fires: ['ScimBridgeDriftStays'] },
  'a token has three weeks left': {
    changes: { token_expiry: '1850400x600' },
    fires: ['ScimBridgeTokenExpires'],
  },
  'a token has three days left': {
    changes: { token_expiry: '295200x600' },
    fires: ['ScimBridgeTokenExpires', 'ScimBridgeTokenExpiresSoon'],
  },
};

/**
 * Returns the series of a situation. @throws Error when a change matches no series of a healthy bridge, or several
 */
export function seriesOf({ changes }: Situation): Record<string, string> {
  const series = { ...HEALTHY };
  for (const [words, values] of Object.entries(changes)) {
    if (words.startsWith('+')) {
      if (values !== null) series[words.slice(1)] = values;
      continue;
    }
    const found = Object.keys(HEALTHY).filter((name) => words.split(' ').every((word) => name.includes(word)));
    const [name] = found;
    if (name === undefined || found.length > 1) throw new Error(`"${words}" fits ${found.length} series`);
    if (values === null) delete series[name];
    else series[name] = values;
  }
  return series;
}
