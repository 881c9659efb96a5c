// Tests an approve order that comes after the source took back the held changes of that id.
import { openPlace, type Place } from '../support/situation.ts';

const NAMES = [0, 1, 2].map((number) => `p${number}@acme.example`);
let place: Place;
let ids: string[];

beforeAll(async () => {
  place = await openPlace({ target: { guard: { approvers: 2, deactivate: { count: 0, percent: 100 } } } });
  ids = await Promise.all(NAMES.map((name) => place.idp.createUser(name)));
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const setActive = async (number: number, value: boolean): Promise<void> => {
  await place.idp.patch(`/Users/${ids[number]}`, { op: 'replace', path: 'active', value });
  await place.idle();
};
const heldId = async (): Promise<string> =>
  /default\.main\.\d+-\d+/.exec((await place.commands.run('approvals', 'list')).text)?.[0] ?? '';
const approve = async (id: string, by: string) =>
  place.commands.run('approvals', 'approve', id, '--yes', '--by', by);

test('`approvals approve` of changes that the source took back exits 1, and names no operator who approved earlier changes', async () => {
  await setActive(0, false);
  await setActive(1, false);
  const first = await heldId();
  await approve(first, 'alice');
  await setActive(2, false);
  await approve(first, 'bert');
  await place.idle();
  const later = await heldId();
  expect(later).not.toBe(first);
  await setActive(2, true);

  const { code, text } = await approve(later, 'bert');
  expect(code).toBe(1);
  expect(text).not.toContain('alice');
  expect(text).toContain(`There is no approval ${later}`);
  expect(await place.platform.user(NAMES[2] ?? '')).toMatchObject({ active: true });
  expect((await approve(first, 'bert')).text).toContain('alice');
}, 60_000);
