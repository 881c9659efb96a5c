// Tests which traffic the network policies of the chart allow.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testWith } from '../../support/needs.ts';
import { HELMS, helmTemplate, isSelected, objectsOf, ofKind, podsOf, rendered, valuesFile, type Manifest } from './chart.ts';

interface Reach {
  in: Record<string, unknown>;
  out: Record<string, unknown>;
}

/** Traffic that a policy allows: port → peers, `any` without a limit. */
function reachOf({ spec }: Manifest): Reach {
  const byPort = (rules: Manifest[], side: 'from' | 'to'): Record<string, unknown> =>
    Object.fromEntries(
      (rules ?? []).flatMap((rule) => rule.ports.map(({ port }: Manifest) => [port, rule[side] ?? 'any'])),
    );
  return { in: byPort(spec.ingress, 'from'), out: byPort(spec.egress, 'to') };
}

const policiesFor = (name: string): Map<string, Reach> => policiesIn(rendered(name));

function policiesIn(objects: Manifest[]): Map<string, Reach> {
  return new Map(
    podsOf(objects).map((pod) => {
      const policies = ofKind(objects, 'NetworkPolicy').filter(({ spec }) =>
        isSelected(spec.podSelector.matchLabels, pod.labels),
      );
      const [policy] = policies;
      expect(policies.length).toBeLessThanOrEqual(1);
      const component: string = pod.labels['app.kubernetes.io/component'];
      return [component, policy ? reachOf(policy) : { in: { all: 'any' }, out: { all: 'any' } }];
    }),
  );
}

test('under the values locked-down network policies let the api connect to DNS and Redis only, and worker and scheduler also to port 443', () => {
  const reach = policiesFor('locked-down');
  expect(Object.keys(reach.get('api')?.out ?? {})).toEqual(['53', '6380']);
  expect(Object.keys(reach.get('worker')?.out ?? {})).toEqual(['53', '443', '6380']);
  expect(Object.keys(reach.get('scheduler')?.out ?? {})).toEqual(['53', '443', '6380']);
  for (const [role, { out }] of reach) if (role !== 'test') expect(Object.values(out)).not.toContain('any');
});

test("with the values locked-down only the gateway and the chart's test reach the api's HTTP port, and workers have only the metrics port", () => {
  const reach = policiesFor('locked-down');
  expect(Object.keys(reach.get('worker')?.in ?? {})).toEqual(['metrics']);
  expect(Object.keys(reach.get('scheduler')?.in ?? {})).toEqual(['metrics']);
  const { http, metrics } = reach.get('api')?.in as { http: Manifest[]; metrics: Manifest[] };
  expect(http[0].namespaceSelector.matchLabels).toEqual({ 'kubernetes.io/metadata.name': 'gateways' });
  const [tester] = podsOf(rendered('locked-down')).filter(({ name }) => name.startsWith('Pod/'));
  expect(isSelected(http[1].podSelector.matchLabels, tester?.labels)).toBe(true);
  expect(http).toHaveLength(2);
  expect(metrics).toHaveLength(1);
});

test('with the admin API enabled network policies let an api connect to the platform (port 443)', () => {
  expect(policiesFor('roles-split').get('api')?.out).toHaveProperty('443');
});

testWith(HELMS.size > 0, 'helm')('network policies let an api connect to a sign-in provider if operators sign in there', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-values-'));
  const file = join(folder, 'values.json');
  const openid = { issuer: 'https://login.example.com', clientId: 'scim-bridge' };
  const signIn = { openid, roles: { viewer: ['bridge-viewers'] } };
  writeFileSync(file, JSON.stringify({ config: { server: { signIn } } }));
  const { ok, text } = helmTemplate([valuesFile('locked-down'), file]);
  rmSync(folder, { recursive: true });
  expect([ok, ok ? '' : text]).toEqual([true, '']);
  expect(policiesIn(objectsOf(text)).get('api')?.out).toHaveProperty('443');
});

test('network policies never allow the link-local network, where clouds serve credentials', () => {
  const peers = policiesFor('roles-split').get('worker')?.out['443'];
  expect(peers).toEqual([{ ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] } }]);
});
