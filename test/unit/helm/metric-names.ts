// The metrics of the bridge that rules and dashboard may use, by their type.

const HISTOGRAMS = [
  'bridge_http_request_seconds',
  'bridge_platform_request_seconds',
  'bridge_rate_wait_seconds',
  'bridge_sync_lag_seconds',
];

const COUNTERS_AND_GAUGES = [
  'bridge_breaker_open',
  'bridge_dead_letters',
  'bridge_drift',
  'bridge_guard_held',
  'bridge_http_requests_total',
  'bridge_outbox_dirty',
  'bridge_outbox_oldest_seconds',
  'bridge_outbox_pending',
  'bridge_platform_requests_total',
  'bridge_profile_deviations_total',
  'bridge_quarantine_risk',
  'bridge_reconcile_duration_seconds',
  'bridge_reconcile_last_success_timestamp_seconds',
  'bridge_reconcile_writes_total',
  'bridge_redis_latency_seconds',
  'bridge_redis_role',
  'bridge_redis_up',
  'bridge_sync_operations_total',
  'bridge_token_expiry_timestamp_seconds',
  'bridge_token_last_used_timestamp_seconds',
  'bridge_worker_last_fetch_timestamp_seconds',
];

/** Names of the series that are scraped. */
export const SERIES: readonly string[] = [
  ...COUNTERS_AND_GAUGES,
  ...HISTOGRAMS.flatMap((name) => ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`)),
];

export const seriesIn = (expression: string): string[] => expression.match(/\bbridge_[a-z_]+/g) ?? [];
