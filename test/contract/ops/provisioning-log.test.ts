// Tests the provisioning log: writes and refusals of the worker, retention, and the hash chain.
import type { DueWork } from '../../../src/directory/outbox/due-work.ts';
import { openDesiredStates } from '../../../src/app/open.ts';
import { NO_REQUEST } from '../../../src/directory/records.ts';
import { untilReady } from '../../../src/directory/redis/connection.ts';
import type { DesiredState } from '../../../src/directory/desired-state.ts';
import { createProvisioningLog, type LogEntry } from '../../../src/directory/logs/provisioning-log.ts';
import { readLog, type LocatedEntry, type LogFilter } from '../../../src/ops/log/provisioning-log.ts';
import { toProvisioningRecord } from '../../../src/ops/log/provisioning-record.ts';
import { buildBridge, type Bridge } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { idOf, openStore } from '../lua/rig.ts';

describe('entries of the provisioning log', () => {
  let bridge: Bridge;
  let store: ReturnType<typeof openDesiredStates>;
  let states: DesiredState[];

  const entries = async (filter: LogFilter = {}): Promise<LocatedEntry[]> => {
    const found: LocatedEntry[] = [];
    for await (const entry of readLog(states, filter)) found.push(entry);
    return found.reverse();
  };
  const untilSynced = () =>
    eventually('nothing is dirty', async () => {
      const { dirty } = (await states[0]?.outboxes.get('main')?.backlog()) ?? { dirty: 1 };
      return dirty === 0;
    });

  beforeAll(async () => {
    bridge = await buildBridge({
      configure: ({ targets: { main } }) => {
        if (!main) return;
        main.users.protected = ['boss@acme.example'];
        main.attributes = {
          country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'keep' },
        };
      },
    });
    store = openDesiredStates(bridge.config);
    ({ states } = store);
    await untilReady(store.redis, 5000);
  });
  afterAll(async () => {
    store.redis.disconnect();
    await bridge.stop();
  });

  it('creation, change and deactivation of a user are logged with values before and after', async () => {
    const id = await bridge.idp.createUser('ada@acme.example');
    await untilSynced();
    await bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'Ada L.' });
    await untilSynced();
    await bridge.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
    await untilSynced();
    const told = await entries({ refs: [`User:${id}`] });
    expect(told.map(({ action, status }) => `${action} ${status}`)).toEqual([
      'create success',
      'activate success',
      'update success',
      'deactivate success',
    ]);
    expect(told[2]?.changes).toContainEqual(['displayName', expect.anything(), 'Ada L.']);
    expect(told[3]?.changes).toEqual([['active', true, false]]);
    const account = await bridge.platform.user('ada@acme.example');
    expect(
      told.every(({ platformId, name }) => platformId === account?.scimId && name === 'ada@acme.example'),
    ).toBe(true);
    const record = toProvisioningRecord(told[3] as LocatedEntry);
    expect(record).toMatchObject({
      provisioningAction: 'disable',
      initiatedBy: { type: 'identityProvider', id: 'default' },
      modifiedProperties: [{ displayName: 'active', oldValue: true, newValue: false }],
      provisioningStatusInfo: { status: 'success', errorInformation: null },
      priority: 'deactivation',
      attempt: 1,
    });
    expect(record.changeId).toMatch(/^\w{12}/);
    expect(record.lagMs).toBeLessThan(20_000);
    expect(JSON.stringify(told)).not.toContain(bridge.sandbox.ready.fixtures.apiKeys.admin);
  });

  it('a search of the log for a user finds the entry about the group to which the user was added', async () => {
    const id = await bridge.idp.createUser('bob@acme.example');
    await untilSynced();
    await bridge.idp.send('POST', '/Groups', { displayName: 'Sales', members: [{ value: id }] });
    await untilSynced();
    const told = await entries({ refs: [`User:${id}`], actions: ['addMembers'] });
    expect(told).toMatchObject([{ name: 'Sales', members: [id], status: 'success' }]);
  });

  it("the sync of a protected user is logged as skipped with the reason Protected, and of a refused group as failure with the platform's message", async () => {
    const boss = await bridge.idp.createUser('boss@acme.example');
    await untilSynced();
    await bridge.idp.patch(`/Users/${boss}`, { op: 'replace', path: 'displayName', value: 'The boss' });
    await untilSynced();
    expect(await entries({ refs: [`User:${boss}`] })).toMatchObject([
      { status: 'skipped', reason: 'Protected' },
    ]);

    const refused = await bridge.idp.send('POST', '/Groups', { displayName: 'system:admins' });
    await untilSynced();
    const [entry] = await entries({ refs: [`Group:${refused.body.id}`] });
    expect(entry).toMatchObject({
      action: 'create',
      status: 'failure',
      http: { method: 'POST', route: '/api/scim/v2/Groups', status: 400 },
    });
    expect(entry?.message).not.toBe('');
    const { provisioningStatusInfo, provisioningSteps } = toProvisioningRecord(entry as LocatedEntry);
    expect(provisioningStatusInfo.errorInformation?.recommendedAction).toContain('identity provider');
    expect(provisioningSteps.at(-1)).toMatchObject({ type: 'export', status: 'failure' });
  });

  it.each([
    ['RecordDamaged', 'read the desired state'],
    ['LeftByPolicy', 'decide whether this target gets it'],
    ['NotAdopted', 'find the counterpart'],
    ['TakenByConnection', 'find the counterpart'],
    ['LastAdministrator', 'ask the guard'],
  ])('the log record of a sync that failed with %s has "%s" as its last step', async (reason, name) => {
    const [entry] = await entries();
    const ended = { ...entry, status: 'failure', reason } as LocatedEntry;
    expect(toProvisioningRecord(ended).provisioningSteps.at(-1)).toMatchObject({ name, status: 'failure' });
  });

  it('when attempts of a sync fail, the log has one entry for the failures, and the success with its attempt number', async () => {
    await bridge.platform.control('PATCH', '/faults', { status5xx: 1 });
    const id = await bridge.idp.createUser('cyd@acme.example');
    await eventually('a retry is told', async () => (await entries({ refs: [`User:${id}`] })).length > 0);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await bridge.platform.control('PATCH', '/faults', {});
    await untilSynced();
    const told = await entries({ refs: [`User:${id}`] });
    expect(told.map(({ status }) => status)).toEqual(['retry', 'success', 'success']);
    expect(told[1]?.attempt).toBeGreaterThan(1);
  });

  it('the log filtered by action, by status or by time returns only the entries that match', async () => {
    const all = await entries();
    expect((await entries({ statuses: ['failure'] })).length).toBe(1);
    expect((await entries({ actions: ['deactivate'] })).length).toBe(1);
    const middle = all[Math.floor(all.length / 2)]?.at ?? 0;
    const [early, late] = [await entries({ until: middle - 1 }), await entries({ since: middle })];
    expect(early.length + late.length).toBe(all.length);
    expect(late.length).toBeGreaterThan(0);
  });
});

describe('the stream of the provisioning log', () => {
  const entry = (serial: number): LogEntry => ({
    ref: `User:${idOf('a')}`,
    name: `n${serial}`,
    action: 'update',
    status: 'success',
    request: NO_REQUEST,
    generation: '1',
    accepted: 0,
    priority: 'edit',
    attempt: 1,
  });

  it('the log keeps its newest entries up to a number and an age, and verification finds an entry that was removed otherwise', async () => {
    const store = await openStore();
    try {
      const log = createProvisioningLog(store, {
        target: 'main',
        limits: { maxEntries: 500, maxAgeMs: 60_000 },
      });
      for (let portion = 0; portion < 20; portion++)
        await log.append(Array.from({ length: 100 }, (_, index) => entry(portion * 100 + index)));
      await expect(log.verify()).resolves.toEqual({ entries: 500, forgotten: 0, broken: undefined });
      const [newest] = (await log.newest().next()).value ?? [];
      expect(newest).toMatchObject({ name: 'n1999' });
      await store.redis.xdel(store.keys.key('log', 'main'), newest?.id ?? '');
      expect((await log.verify()).broken).toBe('the end');
      await log.append([entry(2000)]);
      expect((await log.verify()).broken).toMatch(/^\d+-\d+$/);

      const brief = createProvisioningLog(store, {
        target: 'main',
        limits: { maxEntries: 500, maxAgeMs: 0 },
      });
      await new Promise((resolve) => setTimeout(resolve, 5));
      await brief.trim();
      expect((await brief.verify()).entries).toBe(0);
    } finally {
      await store.close();
    }
  });

  it('the log entry about an adoption is stored together with the link, and not if the account was linked to another user first', async () => {
    const store = await openStore();
    try {
      const works: DueWork[] = [];
      for (const name of ['ada', 'bob']) {
        await store.putUser(idOf(name), { userName: name });
        works.push(await store.begun(`User:${idOf(name)}`));
      }
      const [first, second] = works as [DueWork, DueWork];
      const link = { id: 'p-found' };
      await store.outbox.save(first, link, { linked: true, linkEntries: [entry(1)] });
      second.logEntries.push(entry(2));
      const late = store.outbox.save(second, link, { linked: true, linkEntries: [entry(3)] });
      await expect(late).rejects.toThrow('another resource');
      // The entry about the adoption of the first, and that about a write of the second.
      expect((await store.outbox.log.verify()).entries).toBe(2);
    } finally {
      await store.close();
    }
  });

  it('log entries of a worker that has lost its lease are stored, although its save is refused', async () => {
    const store = await openStore();
    try {
      await store.putUser(idOf('ada'), { userName: 'ada' });
      const work = await store.begun(`User:${idOf('ada')}`);
      await store.redis.del(store.keys.key('lease', `main:User:${idOf('ada')}`));
      work.logEntries.push(entry(1));
      await expect(store.outbox.save(work, {})).rejects.toThrow('lost the lease');
      expect(work.logEntries).toEqual([]);
      expect((await store.outbox.log.verify()).entries).toBe(1);
    } finally {
      await store.close();
    }
  });
});
