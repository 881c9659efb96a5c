// Tests which person or group a command finds by a name that has the form of a ref, that a person and a group share, or that
// only the platform has.
import { openPlace, type Place } from '../support/situation.ts';

let place: Place;
let refs: Record<'odd' | 'person' | 'group', string>;
beforeAll(async () => {
  place = await openPlace({ target: { groups: { rename: [{ match: '^Sales$', to: 'idp/Sales' }] } } });
  refs = {
    odd: `User:${await place.idp.createUser('User:abc')}`,
    person: `User:${await place.idp.createUser('sales')}`,
    group: `Group:${await place.idp.createGroup('Sales', [])}`,
  };
  await place.idle();
}, 60_000);
afterAll(() => place.stop());

const found = async (text: string): Promise<string[]> =>
  ((await place.commands.run('explain', text, '--json')).json ?? []).map(({ ref }: { ref: string }) => ref);

test('explain finds a person whose userName has the form of a ref', async () => {
  expect(await found('User:abc')).toEqual([refs.odd]);
});

test('a person and a group have one name → explain shows both', async () => {
  expect(await found('sales')).toEqual([refs.person, refs.group]);
});

test('explain of a ref shows only the resource with this ref, even if another has it as its name', async () => {
  expect(await found(refs.group)).toEqual([refs.group]);
  expect(await found(refs.person)).toEqual([refs.person]);
});

test('a person and a group have one name → sync of this name is refused and asks for a ref', async () => {
  const { code, text } = await place.commands.run('sync', 'sales', '--dry-run');
  expect(code).toBe(1);
  expect(text).toContain(`sales means more than one; name it by its ref: ${refs.person} sales (default), ${refs.group} Sales (default).`); // prettier-ignore
});

test('explain and log find a group by its name at the platform', async () => {
  expect(await place.platform.group('idp/Sales')).toBeDefined();
  expect(await found('idp/sales')).toEqual([refs.group]);
  const { code, text } = await place.commands.run('log', '--resource', 'idp/Sales');
  expect([code, text]).toEqual([0, expect.stringContaining('Sales  create')]);
});
