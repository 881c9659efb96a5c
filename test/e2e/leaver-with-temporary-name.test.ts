// Tests a person who is deleted at the source while the account has the temporary userName of a circle of names, and whose
// deactivation the guard holds.
import '../support/load-modules.ts';
import { parseLink, toLinkText } from '../../src/directory/outbox/link.ts';
import { byHand } from '../support/by-hand.ts';
import { commandsAt } from '../support/commands-at.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';

let place: Place;
let ann: string;
let temporaryName: string;
beforeEach(async () => {
  place = await openPlace({ target: { guard: { deactivate: { count: 0, percent: 0 } } } });
  ann = await place.idp.createUser(ANN);
  await place.idle();
  await place.stopApps();
  await place.start('api');
  // A kill while a circle of userNames is broken leaves this behind.
  temporaryName = `${ann}.bob@acme.example`;
  const links = await place.key(':links:main');
  const link = parseLink((await place.redis.hget(links, `User:${ann}`)) ?? '');
  await byHand(place, 'PATCH', `/Users/${link.id ?? ''}`, {
    op: 'replace',
    path: 'userName',
    value: temporaryName,
  });
  const core = { ...link.core, userName: temporaryName };
  await place.redis.hset(links, `User:${ann}`, toLinkText({ ...link, core }));
  await place.idp.send('DELETE', `/Users/${ann}`);
  await place.start('worker');
  await eventually('the deactivation is held', async () => (await approvals()).length === 1);
}, 60_000);
afterEach(() => place.stop());

const approvals = async () =>
  (await place.commands.run('approvals', 'list', '--json')).json as { id: string }[];
const { told } = commandsAt(() => place);

test.each(['held', 'rejected'])(
  'the deactivation of a leaver with a temporary userName is %s → explain and exceptions report the temporary name',
  async (state) => {
    if (state === 'rejected') {
      await place.commands.run('approvals', 'reject', (await approvals())[0]?.id ?? '', '--yes');
      await place.idle();
    }
    const said = `the account is called ${temporaryName}, its temporary name until another account gave up the name bob@acme.example`;
    expect(await told('explain', `User:${ann}`, '--all')).toContain(said);
    expect(await told('exceptions')).toContain(said);
    expect((await place.platform.user(temporaryName))?.active).toBe(true);
  },
  60_000,
);
