// Tests that other connections of a target change only the print of conditions that they may end.
import { isBySettingsOfThen } from '../../../src/directory/outbox/link-condition.ts';
import { settingsPrint } from '../../../src/sync/settings-print.ts';

const SETTINGS = { attributes: {} } as Parameters<typeof settingsPrint>[0];

test('another connection of the target is added → only refusals about accounts of other connections count as made under former settings', () => {
  const settings = settingsPrint(SETTINGS);
  const isFormer = (reason: string, more: { byConnections?: true } = {}) =>
    isBySettingsOfThen({ reason, settings, ...more }, settingsPrint(SETTINGS, ['hr']));
  expect([isFormer('TakenByConnection'), isFormer('Conflict', { byConnections: true })]).toEqual([
    true,
    true,
  ]);
  expect([isFormer('Conflict'), isFormer('NotAdopted')]).toEqual([false, false]);
});
