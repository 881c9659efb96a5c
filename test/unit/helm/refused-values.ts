// Lists values that the chart must refuse, with words of the error message.

export interface Refused {
  /** Set of values in ci/ that is the base; `minimal` by default. */
  base?: string;
  /** Path that is removed from the set first. */
  without?: string[];
  values: object;
  says: string;
}

const main = { url: 'https://acme.example.com', token: '${file:/etc/scim-bridge/secret/PLATFORM_TOKEN}' };

const events = { issuer: 'https://scim.example.com', key: '${file:/etc/scim-bridge/secret/EVENTS_KEY}', audience: 'https://siem.example.com' };

export const REFUSED: Record<string, Refused> = {
  'no address of Redis': {
    without: ['config', 'redis', 'url'],
    values: { config: { redis: { prefix: 'other' } } },
    says: 'exactly one of config.redis.url and config.redis.cluster',
  },
  'two addresses of Redis': {
    values: { config: { redis: { cluster: ['redis://redis-0:6379'] } } },
    says: 'exactly one of config.redis.url and config.redis.cluster',
  },
  'a password in the address of Redis': {
    values: { config: { redis: { url: 'redis://bridge:s3cret@redis:6379' } } },
    says: 'carries a password',
  },
  'a token of a connection that is written out': {
    values: { config: { connections: { default: { tokens: [{ name: 'a', secret: 'written-out-0123456789' }] } } } },
    says: 'config.connections.default.tokens[0].secret is written out',
  },
  'a key of events that is written out': {
    values: { config: { connections: { default: { events: { ...events, key: 'written-out-0123456789' } } } } },
    says: 'config.connections.default.events.key is written out',
  },
  'a token for fetching events that is written out': {
    values: { config: { connections: { default: { events: { ...events, poll: { token: 'written-out-0123456789' } } } } } },
    says: 'config.connections.default.events.poll.token is written out',
  },
  'a token of a receiver that is written out': {
    values: { config: { connections: { default: { events: { ...events, push: { endpoint: 'https://siem.example.com', token: 'written-out-0123456789' } } } } } },
    says: 'config.connections.default.events.push.token is written out',
  },
  'a platform key that is written out': {
    values: { config: { targets: { main: { token: 'written-out-0123456789' } } } },
    says: 'config.targets.main.token is written out',
  },
  'a second platform key that is written out': {
    values: { config: { targets: { main: { ...main, scimToken: 'written-out-0123456789' } } } },
    says: 'config.targets.main.scimToken is written out',
  },
  'an admin token that is written out': {
    values: { config: { server: { adminToken: 'written-out-0123456789' } } },
    says: 'config.server.adminToken is written out',
  },
  'a client secret that is written out': {
    values: { config: { server: { signIn: { openid: { issuer: 'https://login.example.com', clientId: 'bridge', clientSecret: 'written-out-0123456789' } } } } },
    says: 'config.server.signIn.openid.clientSecret is written out',
  },
  'an address of notices that is written out': {
    values: { config: { notices: { channels: { chat: { url: 'https://hooks.example.com/written-out', form: 'slack' } } } } },
    says: 'config.notices.channels.chat.url is written out',
  },
  'a secret of notices that is written out': {
    values: { config: { notices: { channels: { hook: { url: '${NOTICES_URL}', secret: 'whsec_written-out' } } } } },
    says: 'config.notices.channels.hook.secret is written out',
  },
  'a port in the settings': {
    values: { config: { server: { port: 9000 } } },
    says: 'config.server.port is set by the chart',
  },
  'a metrics port in the settings': {
    values: { config: { server: { metricsPort: 9000 } } },
    says: 'config.server.metricsPort is set by the chart',
  },
  'a schedule in the settings': {
    values: { config: { reconcile: { schedule: '0 * * * *' } } },
    says: 'Use reconcile.schedule',
  },
  'a time zone in the settings': {
    values: { config: { reconcile: { timezone: 'UTC' } } },
    says: 'Use reconcile.timeZone',
  },
  'no secret at all': { values: { secret: { existingSecret: '' } }, says: 'secret.existingSecret is missing' },
  'two sources of secrets': {
    values: { secret: { values: { SCIM_TOKEN: 'x' } } },
    says: 'secret.existingSecret and secret.values exclude each other',
  },
  'two certificate authorities': {
    values: { extraCa: { configMap: 'a', secret: 'b' } },
    says: 'extraCa.configMap and extraCa.secret exclude each other',
  },
  'two scalers on one Deployment': {
    base: 'roles-split',
    values: { worker: { autoscaling: { enabled: true } } },
    says: 'worker.autoscaling and worker.keda would fight',
  },
  'a scaler on lag without Prometheus': {
    values: { all: { keda: { enabled: true } } },
    says: 'all.keda.prometheusAddress is missing',
  },
  'a scaler on lag without metrics': {
    values: { metrics: { enabled: false }, all: { keda: { enabled: true, prometheusAddress: 'http://p:9090' } } },
    says: 'all.keda scales on a metric',
  },
  'more replicas at least than at most': {
    values: { all: { autoscaling: { enabled: true, minReplicas: 9, maxReplicas: 3 } } },
    says: 'all.autoscaling.minReplicas is above maxReplicas',
  },
  'less time to end than the bridge needs': {
    values: { terminationGracePeriodSeconds: 50 },
    says: 'terminationGracePeriodSeconds is too short',
  },
  'an Ingress without a host': { values: { ingress: { enabled: true } }, says: 'ingress.hosts is missing' },
  'a route without a Gateway': { values: { httpRoute: { enabled: true } }, says: 'httpRoute.parentRefs is missing' },
  'an Ingress without the public address': {
    without: ['config', 'server', 'publicUrl'],
    values: { ingress: { enabled: true, hosts: ['a.example.com'] } },
    says: 'config.server.publicUrl is missing',
  },
  'everything open to the outside': {
    base: 'ha',
    values: { publicPaths: ['/'] },
    says: 'publicPaths has /',
  },
  'two monitors': {
    base: 'ha',
    values: { metrics: { podMonitor: { enabled: true } } },
    says: 'would scrape everything twice',
  },
  'a monitor without metrics': {
    base: 'ha',
    values: { metrics: { enabled: false } },
    says: 'Monitors need metrics.enabled',
  },
  'a password of Sentinel in the address of Redis': {
    values: { config: { redis: { url: 'redis+sentinel://one:26379,two:26379/mymaster?sentinelPassword=s3cret' } } },
    says: 'config.redis.url carries a password',
  },
  'a password with a slash in the address of Redis': {
    values: { config: { redis: { url: 'rediss://:s3/cr$et@redis:6379' } } },
    says: 'config.redis.url carries a password',
  },
  'a password in the address of a cluster node': {
    without: ['config', 'redis', 'url'],
    values: { config: { redis: { cluster: ['redis://a:6379', 'redis://bridge:s3cret@b:6379'] } } },
    says: 'config.redis.cluster[1] carries a password',
  },
  'a password in the address of the platform': {
    values: { config: { targets: { main: { url: 'https://admin:s3cret@acme.example.com' } } } },
    says: 'config.targets.main.url carries a password',
  },
  'a key of backups that is written out': {
    values: { config: { backup: { key: 'written-out-0123456789' } } },
    says: 'config.backup.key is written out',
  },
  'a token in a variable that is written out': {
    values: { extraEnv: [{ name: 'ADMIN_TOKEN', value: 'written-out-0123456789' }] },
    says: 'extraEnv has ADMIN_TOKEN written out',
  },
  'a password in a variable with the address of Redis': {
    values: { extraEnv: [{ name: 'REDIS_URL', value: 'redis://:s3cret@redis:6379' }] },
    says: 'extraEnv.REDIS_URL carries a password',
  },
  'an admin port in the settings': {
    values: { config: { server: { adminPort: 9000 } } },
    says: 'config.server.adminPort is set by the chart',
  },
  'the admin API behind an Ingress': {
    base: 'ha',
    values: { publicPaths: ['/scim/v2', '/admin'] },
    says: 'publicPaths has /admin',
  },
  'less time to end than drainMs needs': {
    values: { terminationGracePeriodSeconds: 60, config: { server: { drainMs: 15_000 } } },
    says: 'set at least 70',
  },
  'a budget that lets no pod go': {
    values: { all: { podDisruptionBudget: { maxUnavailable: 0 } } },
    says: 'all.podDisruptionBudget.maxUnavailable 0 lets no pod go',
  },
  'a budget that lets all pods go': {
    values: { all: { podDisruptionBudget: { maxUnavailable: 2 } } },
    says: 'lets all 2 pods go at once',
  },
  'a label that the chart sets itself': {
    values: { commonLabels: { 'app.kubernetes.io/name': 'other' } },
    says: 'commonLabels has app.kubernetes.io/name',
  },
  'a label of pods that is among the common ones': {
    values: { commonLabels: { team: 'identity' }, all: { podLabels: { team: 'other' } } },
    says: 'all.podLabels has team, which commonLabels has too',
  },
  'an alert that does not exist': {
    values: { metrics: { prometheusRule: { disabled: ['ScimBridgeNoSuchAlert'] } } },
    says: 'names the alert ScimBridgeNoSuchAlert',
  },
  'an override of an alert that does not exist': {
    values: { metrics: { prometheusRule: { overrides: { ScimBridgeTypo: { for: '1h' } } } } },
    says: 'names the alert ScimBridgeTypo',
  },
  'a vertical and a horizontal scaler on CPU': {
    values: { all: { autoscaling: { enabled: true }, verticalPodAutoscaler: { enabled: true } } },
    says: 'all.verticalPodAutoscaler would fight',
  },
  'a restore of nothing': { values: { restore: { enabled: true } }, says: 'exactly one of restore.file' },
  'a restore of a file without a volume': {
    values: { restore: { enabled: true, file: 'a.ndjson' } },
    says: 'Name it in backup.volume.existingClaim',
  },
  'an image for a command that is missing': {
    values: { backup: { enabled: true, image: 'amazon/aws-cli:2' } },
    says: 'backup.image runs backup.command',
  },
  'a budget of a share that is rounded up to all pods': {
    values: { all: { podDisruptionBudget: { maxUnavailable: '51%' } } },
    says: 'maxUnavailable 51% lets all 2 pods go at once',
  },
  'a private key among the former keys of events': {
    values: {
      config: {
        connections: {
          default: {
            events: {
              issuer: 'https://scim.example.com', audience: 'https://siem.example.com',
              key: '${file:/etc/scim-bridge/secret/EVENTS_KEY}', poll: { token: '${file:/etc/scim-bridge/secret/POLL}' },
              otherKeys: ['-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA\n-----END PRIVATE KEY-----'],
            },
          },
        },
      },
    },
    says: 'config.connections.default.events.otherKeys[0] has a private key written out',
  },
  'credentials of an object store that are written out': {
    base: 'backup',
    values: { backup: { env: [{ name: 'AWS_SECRET_ACCESS_KEY', value: 'written-out' }] } },
    says: 'backup.env has AWS_SECRET_ACCESS_KEY written out',
  },
  'networks of a load balancer that is none': {
    values: { service: { loadBalancerSourceRanges: ['192.0.2.0/24'] } },
    says: 'service.loadBalancerSourceRanges belongs to a Service of type LoadBalancer',
  },
  'a traffic policy of a Service inside the cluster': {
    values: { service: { externalTrafficPolicy: 'Local' } },
    says: 'service.externalTrafficPolicy belongs to a Service of type',
  },
};
