// Tests that other connections of a target change only the print of TakenByConnection.
import { isBySettingsOfThen } from '../../../src/directory/outbox/link.ts';
import { settingsPrint } from '../../../src/sync/settings-print.ts';

const SETTINGS = { attributes: {} } as Parameters<typeof settingsPrint>[0];

test('another connection of the target makes a refusal TakenByConnection one by former settings, and no other refusal', () => {
  const settings = settingsPrint(SETTINGS);
  const isFormer = (reason: string) =>
    isBySettingsOfThen({ reason, settings }, settingsPrint(SETTINGS, ['hr']));
  expect([isFormer('TakenByConnection'), isFormer('NotAdopted')]).toEqual([true, false]);
});
