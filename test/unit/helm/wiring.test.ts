// Tests that the rendered objects of the chart refer to each other correctly.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CASES, chartYaml, isSelected, ofKind, podsOf, rendered, type Manifest } from './chart.ts';

const SERVE = readFileSync(join(import.meta.dirname, '../../../src/cli/serve.ts'), 'utf8');
const LAST_RESORT_S = Number(/LAST_RESORT_MS = ([\d_]+)/.exec(SERVE)?.[1]?.replaceAll('_', '')) / 1000;

const portsOf = (deployment: Manifest): string[] =>
  deployment.spec.template.spec.containers[0].ports.map((port: Manifest) => port.name);
const roleOf = (deployment: Manifest): string => deployment.spec.template.spec.containers[0].args[2];
const deploymentsBehind = (objects: Manifest[], selector: Record<string, string>): Manifest[] =>
  ofKind(objects, 'Deployment').filter(({ spec }) => isSelected(selector, spec.template.metadata.labels));

describe.each(CASES)('the rendered objects of %s refer to each other correctly', (name) => {
  const objects = rendered(name);
  const deployments = ofKind(objects, 'Deployment');

  test('every Deployment selects its own pods and no others', () => {
    for (const { metadata, spec } of deployments) {
      const selected = podsOf(objects).filter(({ labels }) => isSelected(spec.selector.matchLabels, labels));
      expect(selected.map((pod) => pod.name)).toEqual([`Deployment/${metadata.name}`]);
    }
  });

  test('the Service selects the role that receives pushes, and the metrics Service selects all roles', () => {
    const [service, admin, metrics] = ofKind(objects, 'Service');
    expect(admin.spec).toMatchObject({ type: 'ClusterIP', selector: service.spec.selector });
    expect(service.spec.ports.map(({ targetPort }: Manifest) => targetPort)).toEqual(['http']);
    const inbound = deploymentsBehind(objects, service.spec.selector);
    expect(inbound.map(roleOf)).toEqual([deployments.length === 1 ? 'all' : 'api']);
    expect(podsOf(objects).filter(({ labels }) => isSelected(service.spec.selector, labels))).toHaveLength(1);
    const scraped = podsOf(objects).filter(({ labels }) => isSelected(metrics.spec.selector, labels));
    expect(scraped).toHaveLength(deployments.length);
    for (const { spec } of [service, admin, metrics]) {
      for (const { targetPort } of spec.ports) expect(portsOf(inbound[0])).toContain(targetPort);
    }
  });

  test('the Deployment sets `replicas` only without an autoscaler', () => {
    const scaled = [...ofKind(objects, 'HorizontalPodAutoscaler'), ...ofKind(objects, 'ScaledObject')];
    const names = scaled.map(({ spec }) => spec.scaleTargetRef.name);
    expect(names).toEqual([...new Set(names)]);
    for (const { metadata, spec } of deployments) {
      expect([metadata.name, spec.replicas === undefined]).toEqual([
        metadata.name,
        names.includes(metadata.name),
      ]);
    }
  });

  test('every Deployment has a disruption budget of one unavailable pod, so that a node can be drained', () => {
    for (const deployment of deployments) {
      const budgets = ofKind(objects, 'PodDisruptionBudget').filter(({ spec }) =>
        isSelected(spec.selector.matchLabels, deployment.spec.template.metadata.labels),
      );
      expect(budgets.map(({ spec }) => spec.maxUnavailable)).toEqual([1]);
    }
  });

  test("a pod's termination grace period exceeds the time that the bridge needs to stop", () => {
    expect(LAST_RESORT_S).toBeGreaterThan(0);
    for (const deployment of deployments) {
      const { terminationGracePeriodSeconds, containers } = deployment.spec.template.spec;
      const pause = Number(containers[0].lifecycle?.preStop.exec.command[1] ?? 0);
      expect(pause > 0).toBe(['all', 'api'].includes(roleOf(deployment)));
      expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(pause + LAST_RESORT_S + 5);
    }
  });

  test('a rolling update keeps at least the replicas running, and changed settings change a hash in the pod template', () => {
    const settings = ofKind(objects, 'ConfigMap').find(({ data }) => data['bridge.yaml'])?.data['bridge.yaml'];
    const hash = createHash('sha256').update(settings.trimEnd()).digest('hex');
    for (const { spec } of deployments) {
      expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
      expect(spec.template.metadata.annotations['checksum/settings']).toBe(hash);
    }
  });

  test('probes use the health endpoints of the bridge', () => {
    for (const deployment of deployments) {
      const [{ startupProbe, livenessProbe, readinessProbe }] = deployment.spec.template.spec.containers;
      expect([startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet)).toEqual([
        { path: '/livez', port: 'admin' },
        { path: '/livez', port: 'admin' },
        { path: '/readyz', port: 'admin' },
      ]);
    }
  });

  test('every mounted volume exists, and the chart creates the objects that it names', () => {
    for (const { spec } of podsOf(objects)) {
      const volumes = spec.volumes.map((volume: Manifest) => volume.name);
      for (const { volumeMounts = [] } of spec.containers) {
        for (const mount of volumeMounts) expect(volumes).toContain(mount.name);
      }
      const settings = spec.volumes.find((volume: Manifest) => volume.name === 'settings').configMap.name;
      expect(ofKind(objects, 'ConfigMap').map(({ metadata }) => metadata.name)).toContain(settings);
    }
  });

  test('the Ingress routes only SCIM addresses to the Service', () => {
    const [service] = ofKind(objects, 'Service');
    for (const { spec } of ofKind(objects, 'Ingress')) {
      const paths = spec.rules.flatMap(({ http }: Manifest) => http.paths);
      for (const { backend, path } of paths) {
        expect(backend.service).toEqual({ name: service.metadata.name, port: { name: 'http' } });
        expect(['/scim/v2', '/connections']).toContain(path);
      }
    }
    for (const { spec } of ofKind(objects, 'HTTPRoute')) {
      const [{ backendRefs, matches }] = spec.rules;
      expect(backendRefs).toEqual([{ name: service.metadata.name, port: service.spec.ports[0].port }]);
      expect(matches.map(({ path }: Manifest) => path.value)).toEqual(['/scim/v2', '/connections']);
    }
  });
});

test('every example values file renders the objects that its name announces', () => {
  const count = (name: string, kind: string): number => ofKind(rendered(name), kind).length;
  expect(count('minimal', 'Deployment')).toBe(1);
  expect(count('minimal', 'Secret')).toBe(0);
  expect([count('ha', 'HorizontalPodAutoscaler'), count('ha', 'PrometheusRule'), count('ha', 'Ingress')]).toEqual(
    [1, 1, 1],
  );
  expect([count('locked-down', 'NetworkPolicy'), count('locked-down', 'ServiceAccount')]).toEqual([3, 0]);
  expect([count('cronjob', 'CronJob'), count('cronjob', 'Secret')]).toEqual([1, 1]);
  expect(ofKind(rendered('roles-split'), 'Deployment').map(roleOf).sort()).toEqual(['api', 'scheduler', 'worker']);
  expect(count('roles-split', 'ScaledObject')).toBe(1);
});

test('the reconcile CronJob never runs twice at once, and a run that ends with exit code 2, 65 or 78 is not repeated', () => {
  const [job] = ofKind(rendered('cronjob'), 'CronJob');
  expect(job.spec).toMatchObject({
    schedule: '15 2 * * *',
    timeZone: 'Europe/Berlin',
    concurrencyPolicy: 'Forbid',
    suspend: false,
    startingDeadlineSeconds: 1800,
  });
  const { podFailurePolicy, template } = job.spec.jobTemplate.spec;
  expect(podFailurePolicy.rules[0]).toMatchObject({ action: 'FailJob', onExitCodes: { values: [2, 65, 78] } });
  expect(podFailurePolicy.rules[0].onExitCodes.containerName).toBe(template.spec.containers[0].name);
  expect(template.spec).toMatchObject({ restartPolicy: 'Never', containers: [{ args: ['reconcile'] }] });
  // A dead letter fails each try, and each try compares everything.
  expect(chartYaml('values.yaml').reconcile.cronJob.backoffLimit).toBe(0);
});
