// Opens a bridge with linked people, and another platform that has accounts and a group of other people under the same ids.
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { byHand, createByHand } from './by-hand.ts';
import type { Front } from './front.ts';
import { createPlatformView, type PlatformView } from './platform-view.ts';
import { openPlace, type Place } from './situation.ts';
import { run } from './situation-table.ts';

export const ANN = 'ann@acme.example';
/** The guard holds the removal of this person from the group crew. */
export const CAI = 'cai@acme.example';
/** Left; the other platform has a closed account under the id of this account. */
export const DAN = 'dan@acme.example';
/** Left, and the link is forgotten; the other platform has no account under the id of this account. */
export const EVE = 'eve@acme.example';
/** The guard holds each removal of a member. */
const guard = { removeMembers: { count: 0, percent: 0 } };

export interface TwoTenants {
  place: Place;
  other: Sandbox;
  there: PlatformView;
  /** Id of Ann. */
  ann: string;
}

/** @param front a proxy to which the address of the target leads; undefined: it leads to the platform itself */
export async function openTwoTenants(front?: Front): Promise<TwoTenants> {
  const place = await openPlace({ target: { guard }, roles: [] });
  if (front) front.platformUrl = place.sandbox.ready.platformUrl;
  await place.change(({ targets: { main } }) => Object.assign(main, front && { url: front.url }));
  const other = await startSandbox();
  const there = createPlatformView(other.ready.controlUrl);
  for (const platform of [place.platform, there])
    await platform.control('PATCH', '/settings', { scimIdStyle: 'numeric' });
  for (const userName of ['zoe', 'yan', 'xia'].map((name) => `${name}@other.example`))
    await there.control('POST', '/fixtures', { users: [{ userName }] });
  await createByHand({ sandbox: other }, 'Groups', { displayName: 'strangers' });
  const ann = await place.idp.createUser(ANN);
  await place.idle();
  const cai = await place.idp.createUser(CAI);
  const crew = await place.idp.createGroup('crew', [cai]);
  await place.idle();
  await place.idp.patch(`/Groups/${crew}`, { op: 'remove', path: `members[value eq "${cai}"]` });
  await place.idle();
  for (const userName of [DAN, EVE]) {
    const id = await place.idp.createUser(userName);
    await place.idle();
    await place.idp.send('DELETE', `/Users/${id}`);
    await place.idle();
  }
  await run(place, 'links', 'forget', EVE, '--leave-account');
  // Somebody opens the accounts of both again.
  for (const userName of [DAN, EVE]) {
    const path = `/Users/${(await place.platform.user(userName))?.scimId}`;
    await byHand(place, 'PATCH', path, { op: 'replace', path: 'active', value: true });
  }
  const idsAt = async (platform: PlatformView, user: string, group: string) => [
    (await platform.user(user))?.scimId,
    (await platform.group(group))?.scimId,
  ];
  // Without equal ids the commands would find nothing there.
  expect(await idsAt(there, 'zoe@other.example', 'strangers')).toEqual(
    await idsAt(place.platform, ANN, 'crew'),
  );
  const xia = (await there.user('xia@other.example'))?.scimId;
  expect(xia).toBe((await place.platform.user(DAN))?.scimId);
  await byHand({ sandbox: other }, 'PATCH', `/Users/${xia}`, { op: 'replace', path: 'active', value: false });
  return { place, other, there, ann };
}
