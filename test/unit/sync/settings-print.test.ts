// Tests that other connections of a target change only the print of TakenByConnection.
import { isBySettingsOfThen } from '../../../src/directory/outbox/link-condition.ts';
import { settingsPrint } from '../../../src/sync/settings-print.ts';

const SETTINGS = { attributes: {} } as Parameters<typeof settingsPrint>[0];

test('another connection of the target is added → a refusal TakenByConnection counts as a refusal under former settings, and NotAdopted does not', () => {
  const settings = settingsPrint(SETTINGS);
  const isFormer = (reason: string) =>
    isBySettingsOfThen({ reason, settings }, settingsPrint(SETTINGS, ['hr']));
  expect([isFormer('TakenByConnection'), isFormer('NotAdopted')]).toEqual([true, false]);
});
