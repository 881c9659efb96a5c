// Tests the values of stopped.yaml, which pages for operators tell them to use while Redis is replaced, and in a second
// region.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith } from '../../support/needs.ts';
import { CASES, chartFile, HELM_NAMES, HELMS, helmTemplate, objectsOf, ofKind, valuesFile } from './chart.ts';

const [, STOPPED = ''] = /```yaml\n(# stopped\.yaml\n[^]*?)```/.exec(chartFile('README.md')) ?? [];
const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-stopped-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const stopped = file('stopped.yaml', STOPPED);

describeWith(HELMS.size > 0, 'helm').each(HELM_NAMES)('%s', (helm) => {
  const render = (name: string, ...more: string[]) => {
    const { ok, text } = helmTemplate([valuesFile(name), stopped, ...more], helm);
    if (!ok) throw new Error(text);
    return objectsOf(text);
  };
  const replicas = (objects: any[]) =>
    Object.fromEntries(ofKind(objects, 'Deployment').map(({ metadata, spec }) => [metadata.name, spec.replicas]));

  test.each(CASES)('stopped.yaml over the values %s leaves no Deployment with a pod, no autoscaler, and no CronJob that starts a job', (name) => {
    const objects = render(name);
    const all = Object.values(replicas(objects));
    expect(all.length).toBeGreaterThan(0);
    expect(all.filter((each) => each !== 0)).toEqual([]);
    expect([...ofKind(objects, 'HorizontalPodAutoscaler'), ...ofKind(objects, 'ScaledObject')]).toEqual([]);
    for (const { metadata, spec } of ofKind(objects, 'CronJob')) {
      expect([metadata.name, spec.suspend]).toEqual([metadata.name, true]);
    }
  });

  test.each(['ha', 'roles-split'])('topology both with one api replica over stopped.yaml and the values %s runs one api pod only', (name) => {
    const objects = render(name, file('both.yaml', 'topology: both\napi: { replicas: 1 }\n'));
    const running = Object.entries(replicas(objects)).filter(([, each]) => each !== 0);
    expect(running).toEqual([[expect.stringMatching(/-api$/), 1]]);
  });
});
