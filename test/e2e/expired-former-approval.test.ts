// Tests what approvals list, show and approve say about held changes whose approval expired, and that the guard has not judged anew.
import '../support/load-modules.ts';
import { ADMIN_TOKEN } from '../support/build-bridge.ts';
import { commandsAt } from '../support/commands-at.ts';
import { createScenarios } from '../support/scenario.ts';
import { openPlace, type Place } from '../support/situation.ts';

const [ANN, BOB] = ['ann@acme.example', 'bob@acme.example'] as const;
const expired = (count: number): string =>
  `the approval of ${count} of the held changes expired, and cannot be decided any more: the guard judges its changes anew, each with its next sync`;

const deactivate = ({ idp }: Place, id: string) =>
  idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
const expire = async (place: Place): Promise<unknown> =>
  place.redis.hset(await place.key(':guardApproval:main'), 'expires', String(Date.now() - 1000));
const openId = async ({ commands }: Place): Promise<string> =>
  (await commands.run('approvals', 'list', '--json')).json[0].id;

/** Pushes Ann and Bob, and holds the deactivation of Ann. @returns the id of Bob */
async function holdAnn(place: Place): Promise<string> {
  const [ann, bob] = [await place.idp.createUser(ANN), await place.idp.createUser(BOB)];
  await place.idle();
  await deactivate(place, ann);
  await place.idle();
  return bob;
}
async function adminError({ port }: Place, id: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/admin/v1/approvals/${encodeURIComponent(id)}`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  expect(answer.status).toBe(404);
  return answer.text();
}

const test = createScenarios(
  () => openPlace({ target: { guard: { approvers: 2, deactivate: { count: 0, percent: 0 } } } }),
  (place) => place.stop(),
);

test('an approval of a part expires after its first approval → the second person reads that what is held has expired, and no id that cannot be decided', async (place) => {
  const { told, outcome } = commandsAt(() => place);
  await holdAnn(place);
  const noted = await place.commands.run(
    ...['approvals', 'approve', await openId(place), '--person', ANN, '--yes', '--by', 'mike', '--json'],
  );
  await expire(place);
  const [code, text] = await outcome('approvals', 'approve', noted.json.id, '--yes', '--by', 'fay');
  expect([code, text]).toEqual([
    1,
    expect.stringContaining(`with its first approval: ${expired(1)}. Then scim-bridge approvals list shows`),
  ]);
  expect(text).not.toContain('what is held now has the id');
  expect(await adminError(place, noted.json.id)).toContain(expired(1));
  expect(await told('approvals', 'list')).not.toContain('of the held changes');
}, 60_000);

test('a newer approval is open, and then expired, while changes of an expired one are not judged → approvals list tells of these, and show of the former id names both', async (place) => {
  const { told } = commandsAt(() => place);
  const bob = await holdAnn(place);
  const former = await openId(place);
  await expire(place);
  await deactivate(place, bob);
  await place.idle();
  const id = await openId(place);
  expect(id).not.toBe(former);
  expect(await told('approvals', 'list')).toContain(`default → main: ${expired(1)}.`);
  expect(await told('approvals', 'show', former)).toContain(
    `what is held now has the id ${id}, see scim-bridge approvals show ${id}; ${expired(1)}.`,
  );
  expect(await adminError(place, former)).toContain(`what is held now has the id ${id}; ${expired(1)}.`);

  await expire(place);
  const listed = await told('approvals', 'list');
  expect(listed).toContain(`${id} expired 1 to deactivate`);
  expect(listed).toContain(`default → main: ${expired(1)}.`);
}, 60_000);
