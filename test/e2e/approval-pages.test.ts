// Tests what `approvals show` says of the changes of a decided approval that it does not print.
import { openPlace, type Place } from '../support/situation.ts';

/** As in guard/decisions.ts: changes that a decision keeps. */
const KEPT = 200;
const NONE = { count: 0, percent: 0 };

let place: Place;
let id: string;
beforeAll(async () => {
  place = await openPlace({ target: { guard: { deactivate: NONE } } });
  const { idp } = place;
  const ids: string[] = [];
  for (let at = 0; at < KEPT + 5; at++) ids.push(await idp.createUser(`p${at}@acme.example`));
  await place.idle();
  for (const each of ids) await idp.patch(`/Users/${each}`, { op: 'replace', path: 'active', value: false });
  await place.idle();
  id = (await place.commands.run('approvals', 'list', '--json')).json[0].id;
  await place.commands.run('approvals', 'approve', id, '--yes');
  await place.idle();
}, 120_000);
afterAll(() => place.stop());

const show = (...flags: string[]) => place.commands.run('approvals', 'show', id, ...flags);

test('approvals show of a decided approval tells how many more changes it can show, and how many are not kept', async () => {
  const first = await show('--limit', '1');
  expect(first.text).toContain(`${KEPT - 1} more: --offset 1 shows the next, --all all that are kept.`);
  expect(first.text).toContain('5 more are not kept.');
  for (const flags of [['--all'], ['--offset', String(KEPT)]]) {
    const { text } = await show(...flags);
    expect(text).toContain('5 more are not kept.');
    expect(text).not.toContain('shows the next');
  }
});
