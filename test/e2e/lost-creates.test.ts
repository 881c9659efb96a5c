// Tests creates without answer: only what the bridge has made itself counts as its own, and it is found also when lists lag.
import '../support/load-modules.ts';
import { systemClock } from '../../src/support/sources.ts';
import { byHand, createByHand } from '../support/by-hand.ts';
import { eventually } from '../support/eventually.ts';
import { openPlace, type Place } from '../support/situation.ts';

const LONG_MS = 40_000;
const LAG_MS = 8000;
const ANN = 'ann@acme.example';

let place: Place;
afterEach(() => place.stop());

type Path = 'Users' | 'Groups';

const lettersOf = async (): Promise<string[]> =>
  (await place.commands.run('dead-letters', 'list', '--json')).json.map(({ reason }: any) => reason);

/**
 * Runs `create`, whose request to the platform gets no answer. Afterwards no worker runs, and the platform works.
 * @param fault `dropBefore`: the platform makes nothing; `dropAfter`: it makes the account or group
 * @param options.lookUps number of requests of the look-up before the create: by userName, and by externalId if there is one
 * @param options.staleReadsMs age of what the platform shows, also afterwards
 */
async function loseCreate<T>(
  path: Path,
  fault: 'dropBefore' | 'dropAfter',
  create: () => Promise<T>,
  { lookUps = path === 'Users' ? 2 : 1, staleReadsMs = 0 } = {},
): Promise<T> {
  const { platform } = place;
  await platform.control('PATCH', '/faults', {
    staleReadsMs,
    rules: [
      { method: 'POST', path: `/${path}$`, [fault]: true, times: 1 },
      // The create follows after the first look-ups; those of the next attempt fail.
      { method: 'GET', path: `/scim/v2/${path}`, skip: lookUps, status5xx: true },
    ],
  });
  await platform.forgetRequests();
  const created = await create();
  await eventually('a look-up after the create failed', async () => {
    const requests = await platform.requests();
    const sent = requests.findIndex(({ method }) => method === 'POST');
    return sent >= 0 && requests.slice(sent).some(({ status }) => status === 503);
  });
  await place.stopApps();
  await place.start('api');
  await platform.control('PATCH', '/faults', { staleReadsMs, rules: [] });
  return created;
}

/** Starts a worker whose clock is ahead. */
const startLater = (aheadMs: number) =>
  place.start('worker', undefined, { ...systemClock, now: () => systemClock.now() + aheadMs });

describe('a create without an answer that made nothing at the platform', () => {
  it('under adopt: report, an unmanaged group with the pushed name is not adopted, and stays when the source deletes its group', async () => {
    place = await openPlace({ target: { adopt: 'report' } });
    const crew = await loseCreate('Groups', 'dropBefore', () => place.idp.createGroup('crew'));
    await createByHand(place, 'Groups', { displayName: 'crew', members: [{ value: await ownId() }] });
    await place.start('worker');
    await place.idle();
    expect(await lettersOf()).toEqual(['NotAdopted']);
    await place.idp.send('DELETE', `/Groups/${crew}`);
    await place.idle();
    expect((await place.platform.group('crew'))?.members).toHaveLength(1);
  }, 60_000);

  it('an adopted group that the source deletes loses only its managed members', async () => {
    place = await openPlace({});
    const crew = await loseCreate('Groups', 'dropBefore', () => place.idp.createGroup('crew'));
    await createByHand(place, 'Groups', { displayName: 'crew', members: [{ value: await ownId() }] });
    await place.start('worker');
    await place.idle();
    await place.idp.send('DELETE', `/Groups/${crew}`);
    await place.idle();
    expect((await place.platform.group('crew'))?.members).toHaveLength(1);
  }, 60_000);

  it.each([
    ['with an externalId', {}, 2],
    ['without externalId', { externalId: undefined }, 1],
  ])(
    'under adopt: report, an unmanaged account is not adopted after a create without an answer (user %s)',
    async (_, extra, lookUps) => {
      place = await openPlace({ target: { adopt: 'report' } });
      const ann = await loseCreate('Users', 'dropBefore', () => place.idp.createUser(ANN, extra), {
        lookUps,
      });
      await createByHand(place, 'Users', { userName: ANN, displayName: 'made by hand' });
      await place.start('worker');
      await place.idle();
      expect(await lettersOf()).toEqual(['NotAdopted']);
      await place.idp.send('DELETE', `/Users/${ann}`);
      await place.idle();
      expect(await place.platform.user(ANN)).toMatchObject({ active: true, displayName: 'made by hand' });
    },
    60_000,
  );

  it('the user is renamed after a create without an answer → an unmanaged account with the former userName stays as it is', async () => {
    place = await openPlace({});
    const ann = await loseCreate('Users', 'dropBefore', () => place.idp.createUser(ANN));
    await createByHand(place, 'Users', { userName: ANN, displayName: 'made by hand' });
    await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'userName', value: 'eve@acme.example' });
    await startLater(125_000);
    await place.idle();
    expect(await place.platform.user(ANN)).toMatchObject({ active: true, displayName: 'made by hand' });
    expect((await place.platform.user('eve@acme.example'))?.active).toBe(true);
    expect(await lettersOf()).toEqual([]);
  }, 60_000);

  it('the group is renamed after a create without an answer → an unmanaged group with the former name stays as it is', async () => {
    place = await openPlace({});
    const crew = await loseCreate('Groups', 'dropBefore', () => place.idp.createGroup('crew'));
    await createByHand(place, 'Groups', { displayName: 'crew', members: [{ value: await ownId() }] });
    await place.idp.patch(`/Groups/${crew}`, { op: 'replace', path: 'displayName', value: 'team' });
    await startLater(125_000);
    await place.idle();
    expect((await place.platform.group('crew'))?.members).toHaveLength(1);
    expect(await place.platform.group('team')).toBeDefined();
    expect(await lettersOf()).toEqual([]);
  }, 60_000);
});

describe('a create without an answer that was carried out at the platform', () => {
  it('somebody changes the new account, and the person is deleted at the source → a dead letter names the open account until somebody closes it', async () => {
    place = await openPlace({ target: { adopt: 'report', users: { activation: 'immediate' } } });
    const sent = { externalId: undefined, displayName: 'Ann Able' };
    const ann = await loseCreate('Users', 'dropAfter', () => place.idp.createUser(ANN, sent), { lookUps: 1 });
    const scimId = (await place.platform.user(ANN))?.scimId ?? '';
    await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'replace', path: 'displayName', value: 'Ann A.' });
    await place.idp.send('DELETE', `/Users/${ann}`);
    await startLater(125_000);
    await place.idle();
    expect(await lettersOf()).toEqual(['Conflict']);
    await byHand(place, 'PATCH', `/Users/${scimId}`, { op: 'replace', path: 'active', value: false });
    await place.commands.run('dead-letters', 'retry', '--all');
    await place.idle();
    expect((await place.commands.run('status')).code).toBe(0);
  }, 60_000);

  it("somebody adds a member to the new group, and the source deletes the group → a dead letter, because the group may be the bridge's own", async () => {
    place = await openPlace({ target: { adopt: 'report' } });
    const crew = await loseCreate('Groups', 'dropAfter', () => place.idp.createGroup('crew'));
    const scimId = (await place.platform.group('crew'))?.scimId ?? '';
    await byHand(place, 'PATCH', `/Groups/${scimId}`, {
      op: 'add',
      path: 'members',
      value: [{ value: await ownId() }],
    });
    await place.idp.send('DELETE', `/Groups/${crew}`);
    await startLater(125_000);
    await place.idle();
    expect(await lettersOf()).toEqual(['Conflict']);
  }, 60_000);

  it.each([
    ['with an externalId', {}, 2],
    ['without externalId', { externalId: undefined }, 1],
  ])(
    'under adopt: never the account (user %s) and a group are linked as created',
    async (_, extra, lookUps) => {
      place = await openPlace({ target: { adopt: 'never' } });
      await loseCreate('Users', 'dropAfter', () => place.idp.createUser(ANN, extra), { lookUps });
      await place.start('worker');
      await place.idle();
      const crew = await loseCreate('Groups', 'dropAfter', async () => {
        await place.start('worker');
        return place.idp.createGroup('crew');
      });
      await place.start('worker');
      await place.idle();
      expect(await lettersOf()).toEqual([]);
      expect((await place.platform.user(ANN))?.active).toBe(true);
      await place.idp.send('DELETE', `/Groups/${crew}`);
      await place.idle();
      expect(await place.platform.group('crew')).toBeUndefined();
    },
    90_000,
  );

  it('lists show the account only after the person is deleted at the source → the account is closed', async () => {
    place = await openPlace({ target: { users: { activation: 'immediate' } } });
    const ann = await loseCreate('Users', 'dropAfter', () => place.idp.createUser(ANN), {
      staleReadsMs: LAG_MS,
    });
    expect((await place.platform.user(ANN))?.active).toBe(true);
    await place.idp.send('DELETE', `/Users/${ann}`);
    await place.start('worker');
    await eventually('closed', async () => (await place.platform.user(ANN))?.active === false, LONG_MS);
  }, 60_000);

  it('lists show the group only after its deletion at the source → the group is deleted', async () => {
    place = await openPlace({});
    const crew = await loseCreate('Groups', 'dropAfter', () => place.idp.createGroup('crew'), {
      staleReadsMs: LAG_MS,
    });
    expect(await place.platform.group('crew')).toBeDefined();
    await place.idp.send('DELETE', `/Groups/${crew}`);
    await place.start('worker');
    await eventually('deleted', async () => !(await place.platform.group('crew')), LONG_MS);
  }, 60_000);

  it('lists show the account only after a rename at the source → the account gets the new userName, and no second account is made', async () => {
    place = await openPlace({});
    const lost = { staleReadsMs: LAG_MS };
    const ann = await loseCreate('Users', 'dropAfter', () => place.idp.createUser(ANN), lost);
    await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'userName', value: 'eve@acme.example' });
    await place.start('worker');
    const isThere = async () => (await place.platform.user('eve@acme.example'))?.active;
    await eventually('renamed', isThere, LONG_MS);
    expect(await place.platform.user(ANN)).toBeUndefined();
  }, 60_000);

  it('a person is deleted and the platform does not show the account in time → the link is removed', async () => {
    place = await openPlace({});
    const ann = await loseCreate('Users', 'dropBefore', () => place.idp.createUser(ANN));
    await place.idp.send('DELETE', `/Users/${ann}`);
    await startLater(125_000);
    await place.idle();
    expect((await place.commands.run('status')).code).toBe(0);
    expect((await place.commands.run('links', 'list')).text).not.toContain(ann);
  }, 60_000);

  it.each([
    ['inactive', 'safe', false],
    ['open', 'immediate', true],
  ] as const)(
    'the person is deleted and lists show the account only after the search ended → the account is %s under activation %s, and unmanaged in plan',
    async (_, activation, isActive) => {
      place = await openPlace({ target: { users: { activation } } });
      const lost = { staleReadsMs: 60_000 };
      const ann = await loseCreate('Users', 'dropAfter', () => place.idp.createUser(ANN), lost);
      await place.idp.send('DELETE', `/Users/${ann}`);
      await startLater(125_000);
      await place.idle();
      expect((await place.commands.run('status')).code).toBe(0);
      await place.platform.control('PATCH', '/faults', { staleReadsMs: 0, rules: [] });
      expect((await place.commands.run('plan', '--all')).text).toMatch(
        /unmanaged and left alone\n[^]*User ann@acme\.example/,
      );
      expect((await place.platform.user(ANN))?.active).toBe(isActive);
    },
    60_000,
  );

  it.each([
    ['with externalIds', {}, { externalId: 'ext-other' }, 2],
    ['without externalIds', { externalId: undefined }, { externalId: undefined }, 1],
  ])(
    "the person is renamed, and another person gets the userName of the create → each person has one account with the person's own values (people %s)",
    async (_, own, others, lookUps) => {
      place = await openPlace({});
      const ann = await loseCreate(
        'Users',
        'dropAfter',
        () => place.idp.createUser(ANN, { displayName: 'Ann Able', ...own }),
        { lookUps },
      );
      await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'userName', value: 'eve@acme.example' });
      await place.idp.createUser(ANN, { displayName: 'Ann Baker', ...others });
      await place.start('worker');
      await place.idle();
      const { users } = await place.platform.state();
      const made = users.filter(({ displayName }) => displayName?.startsWith('Ann'));
      expect(made.map((user) => [user.userName, user.displayName, user.active]).toSorted()).toEqual([
        [ANN, 'Ann Baker', true],
        ['eve@acme.example', 'Ann Able', true],
      ]);
      expect(await lettersOf()).toEqual([]);
    },
    60_000,
  );
});

/** Returns the SCIM id of an account that the bridge does not manage. */
const ownId = async (): Promise<string> => (await place.platform.state()).users[0]?.scimId ?? '';
