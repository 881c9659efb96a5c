// Validates objects of operators by the part of their published API that the chart uses; other fields are refused.
import { Ajv, type ValidateFunction } from 'ajv';
import { kindOf, type Manifest } from './chart.ts';

type Schema = Record<string, unknown>;

const text: Schema = { type: 'string', minLength: 1 };
const whole: Schema = { type: 'integer', minimum: 0 };
const duration: Schema = { type: 'string', pattern: String.raw`^(\d+(ms|[smhdwy]))+$` };
const texts: Schema = { type: 'object', additionalProperties: { type: 'string' } };
const list = (items: Schema): Schema => ({ type: 'array', minItems: 1, items });
const oneOf = (...values: string[]): Schema => ({ enum: values });

/** An object with these properties and no others; a name that ends with `?` may be absent. */
function only(properties: Record<string, Schema>): Schema {
  const entries = Object.entries(properties);
  return {
    type: 'object',
    additionalProperties: false,
    required: entries.filter(([name]) => !name.endsWith('?')).map(([name]) => name),
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ''), schema])),
  };
}

const relabeling = only({
  'sourceLabels?': list(text),
  'separator?': text,
  'targetLabel?': text,
  'regex?': text,
  'modulus?': whole,
  'replacement?': { type: 'string' },
  'action?': oneOf(
    ...['replace', 'keep', 'drop', 'hashmod', 'labelmap', 'labeldrop', 'labelkeep', 'lowercase', 'uppercase'],
  ),
});
const scraping = only({
  port: text,
  'path?': text,
  'interval?': duration,
  'scrapeTimeout?': duration,
  'relabelings?': list(relabeling),
  'metricRelabelings?': list(relabeling),
});
const selector = only({ matchLabels: texts });
const size: Schema = { type: 'string', pattern: String.raw`^\d+(\.\d+)?(m|[KMGT]i?)?$` };
const sizes = only({ 'cpu?': size, 'memory?': size });

/** The `spec` of each kind. */
const SPECS: Record<string, Schema> = {
  'autoscaling.k8s.io/v1 VerticalPodAutoscaler': only({
    targetRef: only({ apiVersion: oneOf('apps/v1'), kind: oneOf('Deployment'), name: text }),
    updatePolicy: only({ updateMode: oneOf('Off', 'Initial', 'Recreate', 'InPlaceOrRecreate', 'Auto') }),
    resourcePolicy: only({
      containerPolicies: list(
        only({
          containerName: text,
          controlledValues: oneOf('RequestsOnly', 'RequestsAndLimits'),
          minAllowed: sizes,
          maxAllowed: sizes,
        }),
      ),
    }),
  }),
  'external-secrets.io/v1 ExternalSecret': only({
    'refreshInterval?': duration,
    secretStoreRef: only({ name: text, kind: oneOf('SecretStore', 'ClusterSecretStore') }),
    target: only({ name: text }),
    dataFrom: list(only({ extract: only({ key: text }) })),
  }),
  'gateway.networking.k8s.io/v1 HTTPRoute': only({
    parentRefs: list(only({ name: text, 'namespace?': text, 'sectionName?': text })),
    'hostnames?': list(text),
    rules: list(
      only({
        matches: list(only({ path: only({ type: oneOf('PathPrefix'), value: { type: 'string', pattern: '^/' } }) })),
        backendRefs: list(only({ name: text, port: { type: 'integer', minimum: 1, maximum: 65_535 } })),
      }),
    ),
  }),
  'keda.sh/v1alpha1 ScaledObject': only({
    scaleTargetRef: only({ name: text }),
    minReplicaCount: whole,
    maxReplicaCount: whole,
    pollingInterval: whole,
    cooldownPeriod: whole,
    fallback: only({ failureThreshold: whole, replicas: whole }),
    triggers: list(
      only({
        type: oneOf('prometheus'),
        // KEDA takes text alone here, also for numbers.
        metadata: only({ serverAddress: text, query: text, threshold: { type: 'string', pattern: String.raw`^\d+$` } }),
        'authenticationRef?': only({ name: text }),
      }),
    ),
  }),
  'monitoring.coreos.com/v1 PodMonitor': only({
    selector,
    podTargetLabels: list(text),
    podMetricsEndpoints: list(scraping),
  }),
  'monitoring.coreos.com/v1 PrometheusRule': only({
    groups: list(
      only({
        name: text,
        rules: list(
          only({ alert: text, expr: text, 'for?': duration, 'keep_firing_for?': duration, labels: texts, annotations: texts }),
        ),
      }),
    ),
  }),
  'monitoring.coreos.com/v1 ServiceMonitor': only({ selector, podTargetLabels: list(text), endpoints: list(scraping) }),
};

export const OPERATOR_KINDS = Object.keys(SPECS);

const ajv = new Ajv({ allErrors: true, strict: false });
const validators = new Map<string, ValidateFunction>(
  Object.entries(SPECS).map(([kind, spec]) => [
    kind,
    ajv.compile(only({ apiVersion: text, kind: text, metadata: { type: 'object', required: ['name'] }, spec })),
  ]),
);

/** @returns the fields that violate the API of the operator, with the reason */
export function operatorFaults(object: Manifest): string[] {
  const isValid = validators.get(kindOf(object));
  if (!isValid) return [`${kindOf(object)} is of no known operator`];
  if (isValid(object)) return [];
  return (isValid.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
