// Situations of the alerts that last longer or shorter than ten hours, or that need other series than a healthy bridge has, in
// promtool's notation (`a+bxn`).

/** Returns a counter that grows by a number and then rests for some minutes, again and again. */
const steps = (growth: number, minutes: number, times: number): string =>
  Array.from({ length: times }, (_, time) => `${(time + 1) * growth}x${minutes - 1}`).join(' ');

/** Situations with series of their own, of any length. */
export const OTHERS: {
  name: string;
  /** Time between two samples; one minute by default. */
  interval?: string;
  /** Time between two evaluations of the rules; five minutes by default, which takes seconds for a situation of days. */
  every?: string;
  series: Record<string, string>;
  at: string;
  fires: string[];
}[] = [
  { name: 'nothing is scraped', series: {}, at: '1h', fires: ['ScimBridgeAbsent'] },
  {
    name: 'one of two identity providers is silent for a day',
    series: {
      'bridge_redis_up{instance="1"}': '1x3000',
      'bridge_http_requests_total{connection="default",operation="list",status="200"}': '0+2x1000 2000x2000',
      'bridge_http_requests_total{connection="other",operation="list",status="200"}': '0+2x3000',
    },
    every: '30m',
    at: '48h',
    fires: ['ScimBridgeNoPushes'],
  },
  {
    name: 'a token was changed on one side only, and the identity provider calls a few times an hour',
    series: {
      'bridge_redis_up{instance="1"}': '1x3000',
      'bridge_http_requests_total{connection="default",operation="list",status="200"}': '0+2x1000 2000x2000',
      // Three calls every 40 minutes.
      'bridge_http_requests_total{connection="default",operation="list",status="401"}': `0x1000 ${steps(3, 40, 50)}`,
    },
    every: '30m',
    at: '48h',
    fires: ['ScimBridgeNoPushes'],
  },
  {
    name: 'the last use of a token was ten days ago',
    // promtool refuses a query over 10,000 samples, which are seven days of minutes.
    interval: '5m',
    series: {
      'bridge_redis_up{instance="1"}': '1x3000',
      'bridge_http_requests_total{connection="default",operation="list",status="200"}': '0+10x120 1200x2880',
      'bridge_token_last_used_timestamp_seconds{connection="default",token="primary"}': '0+300x120 36000x2880',
      'bridge_token_last_used_timestamp_seconds{connection="new",token="primary"}': '0x3000',
    },
    every: '30m',
    at: '249h',
    fires: ['ScimBridgeNoPushes'],
  },
  {
    name: 'one request a day, each at a process that was started since the one before',
    series: {
      'bridge_redis_up{instance="1"}': '1x3000',
      'bridge_http_requests_total{connection="default",operation="list",status="200"}': '_x1000 1x400 stale',
      'bridge_token_last_used_timestamp_seconds{connection="default",token="primary"}': '60000x1400 144000x1500',
    },
    every: '30m',
    at: '47h',
    fires: [],
  },
  {
    name: 'a bridge whose identity provider is silent was updated meanwhile',
    series: {
      'bridge_redis_up{instance="1"}': '1x3000',
      'bridge_http_requests_total{connection="default",operation="list",status="200"}': '0+2x1000 stale',
    },
    every: '30m',
    at: '48h',
    fires: ['ScimBridgeNoPushes'],
  },
  {
    name: 'the first leaver whose account a new worker closes has waited for an hour',
    series: {
      'bridge_redis_up{instance="1"}': '1x60',
      'bridge_sync_lag_seconds_bucket{target="main",priority="deactivation",le="60"}': '0x60',
      'bridge_sync_lag_seconds_bucket{target="main",priority="deactivation",le="3600"}': '0x10 1x50',
      'bridge_sync_lag_seconds_bucket{target="main",priority="deactivation",le="+Inf"}': '0x10 1x50',
    },
    at: '20m',
    fires: ['ScimBridgeDeactivationLag'],
  },
  {
    name: 'a rejection stands for more than two weeks',
    series: {
      'bridge_redis_up{instance="1"}': '1x300',
      'bridge_exceptions_oldest_seconds{target="main",reason="Rejected"}': '1209600+60x300',
      'bridge_exceptions_oldest_seconds{target="main",reason="Protected"}': '9999999+60x300',
    },
    at: '2h',
    fires: ['ScimBridgeOldException'],
  },
];
