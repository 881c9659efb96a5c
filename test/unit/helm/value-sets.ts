// Lists sets of values that operators use, each laid over a complete set of ci/; helm renders them in the tests.

export interface ValueSet {
  /** The set in ci/ below. */
  base: string;
  values: object;
}

const keptCommand = ['aws', 's3', 'cp', '-', 's3://backups/scim-bridge.ndjson'];

export const VALUE_SETS: Record<string, ValueSet> = {
  'two releases in one namespace': { base: 'ha', values: { fullnameOverride: 'second' } },
  'topology both': { base: 'roles-split', values: { topology: 'both' } },
  'topology both without a scheduler': { base: 'cronjob', values: { topology: 'both' } },
  'a public load balancer': { base: 'minimal', values: { service: { type: 'LoadBalancer', port: 443 } } },
  'a node port': { base: 'roles-split', values: { service: { type: 'NodePort' } } },
  'another namespace': { base: 'ha', values: { namespaceOverride: 'other' } },
  'a mirror of images': { base: 'ha', values: { global: { imageRegistry: 'mirror.example.com:5000' } } },
  'a longer drain': { base: 'minimal', values: { config: { server: { drainMs: 25_500 } }, preStopSeconds: 20 } },
  'a grace period of its own': { base: 'minimal', values: { terminationGracePeriodSeconds: 300 } },
  'a service mesh': {
    base: 'minimal',
    values: { sidecars: [{ name: 'proxy', image: 'proxy:1' }], initContainers: [{ name: 'net', image: 'net:1' }] },
  },
  'names of the company': {
    base: 'cronjob',
    values: { dnsPolicy: 'None', dnsConfig: { nameservers: ['10.0.0.53'] }, hostAliases: [{ ip: '10.0.0.1' }] },
  },
  'pods that are replaced at once': {
    base: 'minimal',
    values: { strategy: { type: 'Recreate', rollingUpdate: null }, deploymentAnnotations: { reloader: 'true' } },
  },
  'vertical scaling': { base: 'roles-split', values: { worker: { verticalPodAutoscaler: { enabled: true } } } },
  'a scaler and recommendations': {
    base: 'ha',
    values: { all: { verticalPodAutoscaler: { enabled: true, updateMode: 'Off' } } },
  },
  'a PodMonitor with relabelings': {
    base: 'locked-down',
    values: { metrics: { podMonitor: { relabelings: [{ targetLabel: 'a', replacement: 'b' }] } } },
  },
  'no metrics': { base: 'minimal', values: { metrics: { enabled: false } } },
  'no metrics behind network policies': {
    base: 'locked-down',
    values: { metrics: { enabled: false, podMonitor: { enabled: false } } },
  },
  'operators behind network policies': {
    base: 'locked-down',
    values: { networkPolicy: { ingress: { admin: [{ namespaceSelector: {} }] } } },
  },
  'backups to a volume': { base: 'minimal', values: { backup: { enabled: true } } },
  'backups to a volume that exists': {
    base: 'locked-down',
    values: { backup: { enabled: true, keepDays: 0, volume: { existingClaim: 'backups' } } },
  },
  'backups to a command': { base: 'roles-split', values: { backup: { enabled: true, command: keptCommand } } },
  'a restore of a file': {
    base: 'ha',
    values: { backup: { enabled: true }, restore: { enabled: true, file: 'a.ndjson', replace: true, note: 'drill: May' } },
  },
  'a restore by a command': {
    base: 'backup',
    values: { restore: { enabled: true, command: ['aws', 's3', 'cp', 's3://backups/scim-bridge.ndjson', '-'] } },
  },
  'a restore in a split topology': {
    base: 'roles-split',
    values: { restore: { enabled: true, file: 'a.ndjson' }, backup: { volume: { existingClaim: 'backups' } } },
  },
  'an image of a trial': { base: 'minimal', values: { image: { tag: 'main', pullPolicy: 'Always' } } },
  'settings as references': {
    base: 'minimal',
    values: { config: { server: { drainMs: '${DRAIN}' }, logging: { level: '${LEVEL}' } } },
  },
  'both families of addresses': {
    base: 'ha',
    values: { service: { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6', 'IPv4'] } },
  },
  'a load balancer for the networks of the provider': {
    base: 'roles-split',
    values: {
      service: {
        type: 'LoadBalancer',
        port: 443,
        loadBalancerClass: 'service.k8s.aws/nlb',
        loadBalancerSourceRanges: ['192.0.2.0/24', '2001:db8::/32'],
        externalTrafficPolicy: 'Local',
        annotations: { 'service.beta.kubernetes.io/aws-load-balancer-ssl-ports': '443' },
      },
    },
  },
  'people who sign in': {
    base: 'locked-down',
    values: {
      config: {
        server: {
          signIn: {
            openid: {
              issuer: 'https://login.example.com',
              clientId: 'scim-bridge',
              clientSecret: '${file:/etc/scim-bridge/secret/CLIENT_SECRET}',
            },
            roles: { viewer: ['bridge-viewers'] },
          },
        },
      },
    },
  },
  'notices to a chat': {
    base: 'ha',
    values: {
      config: {
        notices: {
          channels: { chat: { form: 'slack', url: '${file:/etc/scim-bridge/secret/CHAT_URL}' } },
        },
      },
    },
  },
  'a cluster that gives out ids of users': {
    base: 'backup',
    values: { podSecurityContext: { runAsUser: null, runAsGroup: null, fsGroup: null, fsGroupChangePolicy: null } },
  },
  'one replica on one node': {
    base: 'minimal',
    values: { all: { replicas: 1 }, topologySpread: { hostname: 'off', zone: 'off' } },
  },
  'a spread and a place of our own': {
    base: 'roles-split',
    values: {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { a: 'b' } } },
      ],
      nodeSelector: { 'kubernetes.io/arch': 'arm64' },
      tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      worker: { nodeSelector: { pool: 'workers' }, priorityClassName: 'low' },
    },
  },
  'a mirror for every image of a backup': {
    base: 'backup',
    values: { global: { imageRegistry: 'mirror.example.com', imagePullSecrets: [{ name: 'pull' }] } },
  },
  'a budget of half the pods': {
    base: 'ha',
    values: { all: { podDisruptionBudget: { maxUnavailable: '50%' }, autoscaling: { minReplicas: 3 } } },
  },
  'a second region that waits': { base: 'ha', values: { all: { replicas: 0, autoscaling: { enabled: false } } } },
  'a sidecar of Kubernetes and a volume': {
    base: 'roles-split',
    values: {
      initContainers: [{ name: 'proxy', image: 'proxy:1', restartPolicy: 'Always' }],
      extraVolumes: [{ name: 'trust', configMap: { name: 'trust' } }],
      extraVolumeMounts: [{ name: 'trust', mountPath: '/trust', readOnly: true }],
      extraEnv: [{ name: 'API_TOKEN', valueFrom: { secretKeyRef: { name: 'api', key: 'token' } } }],
    },
  },
  'names as long as they may be': {
    base: 'cronjob',
    values: {
      fullnameOverride: 'the-identity-team-of-the-whole-company-in-europe',
      backup: { enabled: true },
      metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true }, grafanaDashboard: { enabled: true } },
    },
  },
  'numbers and truths as texts in labels': {
    base: 'minimal',
    values: {
      commonLabels: { 'cost-center': '1234', critical: 'true' },
      commonAnnotations: { 'example.com/rate': '1e3' },
      all: { podLabels: { tier: '0' }, podAnnotations: { 'sidecar.example.com/inject': 'false' } },
    },
  },
};
