// Tests what explain and plan tell of an addition to a group that the platform answered with success and an empty body, and did not make.
import { commandsAt } from '../support/commands-at.ts';
import { startFront, type Front } from '../support/front.ts';
import { openPlace, type Place } from '../support/situation.ts';

const ANN = 'ann@acme.example';
const BOB = 'bob@acme.example';
const TAKEN_OUT = 'taken out at the platform';
const NOT_MADE = 'member at the source; the platform answered an earlier addition with success';

let place: Place;
let front: Front;
beforeAll(async () => {
  front = await startFront();
  place = await openPlace({ target: { url: front.url } });
  front.platformUrl = place.sandbox.ready.platformUrl;
  const ann = await place.idp.createUser(ANN);
  const bob = await place.idp.createUser(BOB);
  const crew = await place.idp.createGroup('crew', [ann]);
  await place.idle();
  front.answer = (method, url) =>
    method === 'PATCH' && url.includes('/scim/v2/Groups/') ? { status: 200 } : undefined;
  await place.idp.patch(`/Groups/${crew}`, { op: 'add', path: 'members', value: [{ value: bob }] });
  await place.idle();
}, 60_000);
afterAll(async () => {
  await place.stop();
  front.stop();
});

const { told: words } = commandsAt(() => place);

test.each([
  ['explain of the person', ['explain', BOB]],
  ['explain of the group', ['explain', 'crew']],
  ['sync --dry-run of the person', ['sync', BOB, '--dry-run']],
  ['plan', ['plan', '--full']],
])(
  'the platform answers the addition of a member with success but does not make it → %s reports an ignored addition, not a removal by somebody else',
  async (_, command) => {
    expect((await place.platform.group('crew'))?.members).toEqual([ANN]);
    const told = await words(...command);
    expect(told).toContain(NOT_MADE);
    expect(told).not.toContain(TAKEN_OUT);
  },
);
