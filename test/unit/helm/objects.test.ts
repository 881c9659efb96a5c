// Tests that every rendered object is valid by the schema of its kind.
import { CASES, kindOf, ofKind, podsOf, rendered, type Manifest } from './chart.ts';
import { schemaFaults, strictFaults } from './kubernetes.ts';
import { OPERATOR_KINDS } from './operator-kinds.ts';

describe.each(CASES)('the objects of %s', (name) => {
  const objects = rendered(name);

  test('every rendered object is valid by the schema of its kind, including kinds of Kubernetes operators', () => {
    const faults = objects.map((object: Manifest) => [object.kind, object.metadata.name, schemaFaults(object)]);
    expect(faults.filter(([, , found]) => found.length > 0)).toEqual([]);
  });

  test('no two objects have the same name, and every name fits a DNS label', () => {
    const names = objects.map((object) => `${object.kind}/${object.metadata.name}`);
    expect(names).toEqual([...new Set(names)]);
    for (const { metadata } of objects) expect(metadata.name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
  });

  test('every object has the namespace and the labels of the release', () => {
    for (const { kind, metadata } of objects) {
      expect([kind, metadata.namespace]).toEqual([kind, 'identity']);
      if (kind === 'ExternalSecret') continue;
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/instance': 'bridge',
        'app.kubernetes.io/managed-by': 'Helm',
      });
    }
  });
});

test('the tested values render an object of each kind of a custom resource definition (CRD), and a misspelt field in each object is reported', () => {
  const objects = CASES.flatMap(rendered);
  for (const kind of OPERATOR_KINDS) {
    const object = structuredClone(objects.find((each) => kindOf(each) === kind));
    expect([kind, object === undefined]).toEqual([kind, false]);
    object.spec.intervall = '30s';
    expect(schemaFaults(object)).toEqual([expect.stringContaining('intervall')]);
  }
});

test('no object has a field that Kubernetes does not know', () => {
  expect(strictFaults(CASES.flatMap(rendered))).toEqual([]);
}, 120_000);

test('the test of the rendered objects finds a misspelt field', () => {
  const [deployment] = ofKind(rendered('minimal'), 'Deployment');
  const wrong = structuredClone(deployment);
  wrong.spec.template.spec.containers[0].imagePullPolice = 'Always';
  expect(strictFaults([wrong])).toEqual([expect.stringContaining('imagePullPolice')]);
}, 120_000);

describe.each(CASES)('the pods of %s', (name) => {
  test.each(podsOf(rendered(name)))('the pod of $name fits the restricted pod security profile of Kubernetes', ({ spec }) => {
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 10001,
      runAsGroup: 10001,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect([spec.hostNetwork, spec.hostPID, spec.hostIPC]).toEqual([undefined, undefined, undefined]);
    for (const container of spec.containers) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.resources).toMatchObject({
        requests: { cpu: expect.anything(), memory: expect.anything() },
        limits: { memory: expect.anything() },
      });
    }
    for (const volume of spec.volumes) {
      expect(['configMap', 'projected', 'secret', 'emptyDir']).toContain(
        Object.keys(volume).find((key) => key !== 'name'),
      );
    }
  });
});
