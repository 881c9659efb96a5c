// Tests that a later change of a value is written if the platform had the desired value before a new rule asked for it.
import '../support/load-modules.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const GRADE = { type: 'string', from: 'title' };
const EXTENSION = 'urn:cube:params:1.0:UserAttribute';
const LONG_MS = 60_000;

let place: Place;
let ann: string;
afterEach(() => place.stop());
const { succeed, told } = commandsAt(() => place);

const RENAMED = [
  { match: '^team$', to: 'staff' },
  { match: '^crew$', to: 'team' },
];
const FROM_NICKNAME = { type: 'string', from: 'nickName' };

const gradeOf = async () => (await place.platform.user(ANN))?.attributes.grade ?? null;

async function open(user: object, options: { target?: object; rest?: object } = {}): Promise<void> {
  place = await openPlace({ ...options, target: { attributes: { grade: GRADE }, ...options.target } });
  ann = await place.idp.createUser(ANN, user);
  await place.idle();
}
/** @param change `value`, or nothing for a removal */
async function gradeByHand(change: { value?: string }): Promise<void> {
  const { scimId = '' } = (await place.platform.user(ANN)) ?? {};
  const op = 'value' in change ? 'replace' : 'remove';
  await byHand(place, 'PATCH', `/Users/${scimId}`, { op, path: `${EXTENSION}:grade`, ...change });
}
const mapFrom = (grade: object) =>
  place.change(({ targets: { main } }) => {
    main.attributes = { grade };
  });
const push = async (...operations: object[]): Promise<void> => {
  await place.idp.patch(`/Users/${ann}`, ...operations);
  await place.idle();
};
/** Runs a reconcile that has nothing to write at the platform. */
async function reconcileWithoutWrite(): Promise<void> {
  await place.platform.forgetRequests();
  await succeed('reconcile', '--yes');
  expect(await place.platform.writes()).toEqual([]);
  expect(await told('explain', ANN)).toContain('as desired');
}

test.each(['repair', 'report'])(
  'under onDrift: %s others gave a value before a rule asks for it → its removal at the source is written',
  async (onDrift) => {
    const rest = { reconcile: { schedule: null, onDrift } };
    await open({ title: 'Secret' }, { target: { attributes: { grade: FROM_NICKNAME } }, rest });
    await gradeByHand({ value: 'Secret' });
    await mapFrom(GRADE);
    await reconcileWithoutWrite();
    await push({ op: 'remove', path: 'title' });
    expect(await gradeOf()).toBe(null);
    expect(await told('status')).not.toContain('by others');
  },
  LONG_MS,
);

test(
  'others gave the value of a new rule → a change of the source back to the value of the former rule is written',
  async () => {
    await open({ title: 'low', nickName: 'high' });
    await gradeByHand({ value: 'high' });
    await mapFrom(FROM_NICKNAME);
    await reconcileWithoutWrite();
    await push({ op: 'replace', path: 'nickName', value: 'low' });
    expect(await gradeOf()).toBe('low');
  },
  LONG_MS,
);

test(
  'others removed a value that a new rule does not ask for → the same value from the source is written again',
  async () => {
    await open({ title: 'high' });
    await gradeByHand({});
    await mapFrom({ ...FROM_NICKNAME, onEmpty: 'clear' });
    await reconcileWithoutWrite();
    await push({ op: 'replace', path: 'nickName', value: 'high' });
    expect(await gradeOf()).toBe('high');
  },
  LONG_MS,
);

test(
  'others renamed a group as new settings ask → a later rename at the source to the former name is written',
  async () => {
    await open({});
    const group = await place.idp.createGroup('team', [ann]);
    await place.idle();
    const { scimId = '' } = (await place.platform.group('team')) ?? {};
    await byHand(place, 'PATCH', `/Groups/${scimId}`, { op: 'replace', path: 'displayName', value: 'staff' });
    await place.change(({ targets: { main } }) => {
      main.groups = { rename: RENAMED };
    });
    await reconcileWithoutWrite();
    await place.idp.patch(`/Groups/${group}`, { op: 'replace', path: 'displayName', value: 'crew' });
    await place.idle();
    expect((await place.platform.group('team'))?.members).toHaveLength(1);
  },
  LONG_MS,
);

test(
  'others give the value of a new rule and take it back after the run → the next run writes it',
  async () => {
    await open({ title: 'low', nickName: 'high' });
    await succeed('reconcile', '--yes');
    await gradeByHand({ value: 'high' });
    await mapFrom(FROM_NICKNAME);
    await reconcileWithoutWrite();
    await gradeByHand({ value: 'low' });
    await succeed('reconcile', '--yes');
    expect(await gradeOf()).toBe('high');
  },
  LONG_MS,
);
