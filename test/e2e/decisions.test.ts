// Tests random pushes, drift, decisions about held changes, faults of the platform and kill -9 of the bridge: no difference is
// left unexplained, and when all is approved, the platform equals the source.
import '../support/load-modules.ts';
import { createOffice } from '../support/office/office.ts';
import { openOfficePlace, type OfficePlace } from '../support/office/place.ts';
import { createCheck } from '../support/office/check.ts';

const SEEDS = process.env.DECISIONS_SEED?.split(',').map(Number) ?? [9, 12];
const STEPS = Number(process.env.DECISIONS_STEPS ?? 18);
const one = { count: 1, percent: 100 };

let place: OfficePlace;
afterEach(() => place.stop());

test.each(SEEDS)(
  'random pushes, decisions and faults → no command contradicts source and platform, and in the end both are equal (seed %d)',
  async (seed) => {
    const guard = { deactivate: one, delete: one, removeMembers: one, clearAttributes: one };
    place = await openOfficePlace({
      target: { guard, timeoutMs: 1000, attributes: { badge: { type: 'string', from: 'nickName' } } },
    });
    const office = createOffice(place, seed);
    const { faults, settle, checkClaims, checkTruth, checkEnd } = createCheck(place, office);
    for (let index = 0; index < 4; index++) await office.hire();
    for (let index = 0; index < 2; index++) await office.found();
    for (let step = 0; step < STEPS && faults.length === 0; step++) {
      await office.live();
      const isTroubled = office.trouble() !== undefined;
      if (step % 3 !== 2) continue;
      await checkClaims();
      if (!isTroubled) await settle();
      if (step % 6 !== 5) continue;
      if (isTroubled) await office.endTrouble();
      await settle();
      await place.commands.run('reconcile', '--yes');
      await settle();
      await checkTruth();
    }
    if (office.trouble() !== undefined) await office.endTrouble();
    if (faults.length === 0) {
      // Approves everything: then the platform has to equal the source.
      await office.useSettings({ policy: 'sync', users: { protected: [] } });
      for (let round = 0; round < 8; round++) {
        await settle();
        await office.settleEverything();
        await settle();
        await place.commands.run('reconcile', '--yes');
        await settle();
        if ((await office.differences()).length === 0) break;
      }
      await checkTruth();
      await checkEnd();
    }
    if (faults.length > 0) throw new Error(`${office.diary.join('\n')}\n---\n${faults.join('\n')}\n===`);
  },
  600_000,
);
