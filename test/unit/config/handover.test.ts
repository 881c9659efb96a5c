// Tests the setting targets.<name>.handover: its forms, its default, and the faults of settings that contradict it.
import { faultsOf, KEY, loadText, SECRET } from './settings-folder.ts';

const text = (target: string): string =>
  `connections: { default: { tokens: [{ name: primary, secret: ${SECRET} }] } }\n` +
  `targets: { main: { url: 'https://a.example', token: ${KEY}, ${target} } }`;

test('the handover setting is off by default, takes ids as numbers or text, and by default waits 30 days', () => {
  expect(loadText(text('adopt: exact')).targets.main?.handover).toBeNull();
  expect(loadText(text('handover: { deployment: 1, folder: 12 }')).targets.main?.handover).toEqual({
    deployment: '1',
    folder: '12',
    afterDays: 30,
  });
  expect(
    loadText(text("handover: { deployment: '1', folder: Team, afterDays: 0 }")).targets.main?.handover,
  ).toEqual({ deployment: '1', folder: 'Team', afterDays: 0 });
});

test.each([
  ['handover: { folder: Team }', /deployment/],
  ['handover: { deployment: 1 }', /folder/],
  ['handover: { deployment: main, folder: Team }', /right form/],
  ['handover: { deployment: 1, folder: Team, afterDays: -1 }', /at least 0/],
  ['handover: { deployment: 1, folder: Team }, policy: upsert-only', /policy: sync/],
  ['policy: null, handover: { deployment: 1, folder: Team }', /main\/policy/],
  ['handover: { deployment: 1, folder: Team }, users: { deprovision: delete }', /deprovision: deactivate/],
  [
    'handover: { deployment: 1, folder: Team }, users: { deleteAfterDays: 30 }',
    /deleteAfterDays must be more/,
  ],
])('a wrong setting of the handover is reported as a fault: %s', (target, message) => {
  const faults = faultsOf(text(target));
  expect(faults).toHaveLength(1);
  expect(`${faults[0]?.path} ${faults[0]?.message}`).toMatch(message);
});
