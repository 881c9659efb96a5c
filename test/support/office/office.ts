// Simulates a company with an operator and with trouble: random pushes, drift at the platform, random decisions about held
// changes, faults of the platform, and kill -9 of the bridge.
import { byHand } from '../by-hand.ts';
import { createDice } from './dice.ts';
import { createOperator } from './operator.ts';
import type { OfficePlace } from './place.ts';
import { createSource } from './source.ts';
import { createTrouble } from './trouble.ts';
import { createTruth } from './truth.ts';

/** Creates an office whose events depend on the seed, and on how far the bridge is at each of them. */
export function createOffice(place: OfficePlace, seed: number) {
  const dice = createDice(seed);
  const { random, chance, pick } = dice;
  const diary: string[] = [];
  const source = createSource(place, dice, diary);
  const operator = createOperator(place, dice, source);
  const trouble = createTrouble(place, dice);
  let policyNow = 'sync';
  const note = (text: string): void => void diary.push(text);

  async function drift(): Promise<string> {
    // A change by hand would fail as well.
    if (trouble.lasting() === 'fault') return 'nobody can change the platform';
    const { users, groups } = await place.platform.state();
    const ours = users.filter(({ userName }) => userName.endsWith('@office.example'));
    const user = pick(ours);
    if (!user) return 'nobody changes the platform';
    const group = pick(groups.filter(({ members }) => members.includes(user.userName)));
    if (group && chance(0.5)) {
      await byHand(place, 'PATCH', `/Groups/${group.scimId}`, {
        op: 'remove',
        path: `members[value eq "${user.id}"]`,
      });
      return `others take ${user.userName} out of ${group.displayName}`;
    }
    await byHand(place, 'PATCH', `/Users/${user.scimId}`, {
      op: 'replace',
      path: 'active',
      value: !user.active,
    });
    return `others set active of ${user.userName} to ${!user.active}`;
  }
  /** Restarts the bridge with other settings. */
  async function changeSettings(): Promise<string> {
    const person = pick(source.present());
    const isProtected = person !== undefined && chance(0.6);
    const policy = chance(0.3) ? 'upsert-only' : 'sync';
    await useSettings({ policy, users: { protected: isProtected ? [person.userName] : [] } });
    return `restarts with the policy ${policy}, protected: ${isProtected ? person.userName : 'nobody'}`;
  }
  async function useSettings(settings: { policy: string; users: object }): Promise<void> {
    policyNow = settings.policy;
    await place.change(({ targets: { main } }) => void Object.assign(main, settings));
  }

  const push = (): Promise<string> => {
    const roll = random();
    if (roll < 0.2) return source.hire();
    if (roll < 0.35) return source.found();
    return roll < 0.65 ? source.changePerson() : source.changeTeam();
  };
  async function operate(): Promise<string> {
    const work = chance(0.65) ? operator.decide : operator.giveOrder;
    const text = await work();
    if (!chance(0.25)) return text;
    await place.kill();
    return `${text}; then the bridge is killed`;
  }
  const haveTrouble = (): Promise<string> => {
    const roll = random();
    if (roll < 0.4) return trouble.killDuring(push);
    if (roll < 0.5) return trouble.killDuring(operator.decide);
    if (trouble.lasting()) return trouble.end();
    return roll < 0.9 ? trouble.fail() : trouble.hold();
  };

  async function live(): Promise<void> {
    const roll = random();
    note(
      await (roll < 0.02
        ? changeSettings()
        : roll < 0.52
          ? push()
          : roll < 0.74
            ? operate()
            : roll < 0.93
              ? haveTrouble()
              : drift()),
    );
  }

  return {
    ...source,
    ...operator,
    ...createTruth(place, source),
    diary,
    live,
    useSettings,
    trouble: trouble.lasting,
    endTrouble: async () => note(await trouble.end()),
    policy: () => policyNow,
  };
}
