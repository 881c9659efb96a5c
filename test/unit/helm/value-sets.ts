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
};
