// Tests the commands explain and sync for single users and groups.
import { randomUUID } from 'node:crypto';
import { buildBridge, TOKEN, type Bridge } from '../support/build-bridge.ts';
import { createCommands, type Commands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { openReconciling, scimPatch } from '../support/reconciling.ts';

let bridge: Bridge;
let commands: Commands;
const prefix = `test-${randomUUID()}`;
const attributes = {
  country: { type: 'string', from: 'addresses[type eq "work"].country' },
  level: { type: 'number', from: 'title' },
} as const;

const untilSynced = () =>
  eventually('nothing is dirty', async () => {
    const [row] = (await commands.run('status', '--json')).json;
    return row.dirty === 0;
  });
const explain = async (who: string) => {
  const { code, json } = await commands.run('explain', who, '--json');
  return { code, ...json?.[0] };
};

beforeAll(async () => {
  bridge = await buildBridge({
    configure: (config) => {
      config.redis.prefix = prefix;
      const { main } = config.targets;
      if (!main) return;
      main.users.protected = ['boss@acme.example'];
      main.groups.exclude = ['^private'];
      main.guard.deactivate = { count: 1, percent: 100 };
      main.attributes = {
        country: { ...attributes.country, onEmpty: 'keep' },
        level: { ...attributes.level, onEmpty: 'keep' },
      };
    },
  });
  commands = createCommands({
    redis: { url: process.env.TEST_REDIS_URL, prefix },
    connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
    targets: {
      main: {
        url: bridge.sandbox.ready.platformUrl,
        token: bridge.sandbox.ready.fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        users: { protected: ['boss@acme.example'] },
        groups: { exclude: ['^private'] },
        guard: { deactivate: { count: 1, percent: 100 } },
        attributes,
      },
    },
    reconcile: { schedule: null },
  });
}, 60_000);

afterAll(async () => {
  commands.remove();
  await bridge.stop();
});

describe('the command explain', () => {
  let ada: string;

  beforeAll(async () => {
    const created = await bridge.idp.send('POST', '/Users', {
      userName: 'ada@acme.example',
      externalId: 'hr-1',
      title: '3',
      emails: [{ value: 'ada.lovelace@acme.example', type: 'work' }],
      addresses: [{ type: 'work', country: 'PT' }],
      active: true,
    });
    ada = created.body.id;
    await bridge.idp.send('POST', '/Groups', { displayName: 'Sales', members: [{ value: ada }] });
    await bridge.idp.send('POST', '/Groups', { displayName: 'private club', members: [{ value: ada }] });
    await untilSynced();
  });

  it.each(['ada@acme.example', 'ADA@acme.example', 'hr-1', 'ada.lovelace@acme.example'])(
    'explain finds a user by %s and shows each stage from the push to the platform',
    async (text) => {
      const found = await explain(text);
      expect(found).toMatchObject({
        code: 0,
        name: 'ada@acme.example',
        verdict: 'asDesired',
        inScope: true,
        deadLetterSince: null,
        link: { origin: 'created', active: true },
        stored: { externalId: 'hr-1' },
        mark: null,
      });
      expect(found.summary).toBe('ada@acme.example is at main as desired: active, in 1 group.');
      expect(found.values).toContainEqual({
        name: 'attributes.level',
        desired: 3,
        applied: 3,
        observed: 3,
        state: 'equal',
      });
      expect(found.memberships.map(({ name, state }: any) => `${name} ${state}`).sort()).toEqual([
        'Sales applied',
        'private club notForTarget',
      ]);
      const events = found.timeline.map(({ event }: any) => event);
      expect(events.indexOf('stored')).toBeLessThan(events.indexOf('applied'));
      expect(found.timeline.map(({ text: line }: any) => line)).toContain('added to the group Sales');
    },
  );

  it('explain reports an account that was renamed, deactivated or deleted at the platform, or that cannot be read', async () => {
    const name = 'drift@acme.example';
    const hands = await openReconciling(bridge);
    await bridge.idp.createUser(name);
    await untilSynced();
    const { scimId } = (await bridge.platform.user(name)) ?? {};
    const path = `/api/scim/v2/Users/${scimId}`;
    expect(await explain(name)).toMatchObject({ verdict: 'asDesired', platform: { state: 'equal' } });

    await hands.meddle('PATCH', path, scimPatch({ op: 'replace', path: 'displayName', value: 'Meddled' }));
    const renamed = await explain(name);
    expect(renamed).toMatchObject({ verdict: 'differs', platform: { state: 'differs' } });
    expect(renamed.reasons).toContain('At the platform: displayName differs.');
    await hands.meddle('PATCH', path, scimPatch({ op: 'replace', path: 'active', value: false }));
    expect((await explain(name)).reasons.join()).toContain('active at the source, inactive at the platform');
    await hands.meddle('DELETE', path);
    const gone = await explain(name);
    expect(gone.reasons.join()).toContain('At the platform: its account is gone at the platform');
    expect(gone.summary).toBe(
      `${name} is not at main as desired, read just now: the next reconcile that repairs, or scim-bridge sync ${gone.ref}, brings it.`,
    );

    await bridge.platform.control('PATCH', '/faults', {
      rules: [{ method: 'GET', path: '/Users', status5xx: { status: 503 }, times: 20 }],
    });
    const unread = await explain('ada@acme.example');
    expect(unread).toMatchObject({ verdict: 'asDesired', platform: { state: 'unread', differences: [] } });
    expect(unread.summary).toContain('main could not be read now');
    await bridge.platform.control('PATCH', '/faults', { rules: [] });
    await hands.stop();
    await commands.run('sync', name);
    expect(await explain(name)).toMatchObject({ verdict: 'asDesired' });
    // The link to the deleted account is removed.
    const { json: findings } = await commands.run('doctor', '--deep', '--json');
    expect(findings.filter(({ area, level }: any) => area === 'data default' && level !== 'ok')).toEqual([]);
  });

  it('explain prints the state as text, and exits 4 for an unknown name', async () => {
    const { text, code } = await commands.run('explain', 'ada@acme.example');
    expect(code).toBe(0);
    expect(text).toContain('✔ ada@acme.example is at main as desired');
    expect(text).toContain('= attributes.country: "PT"');
    const unknown = await commands.run('explain', 'nobody@acme.example');
    expect(unknown.code).toBe(4);
    expect(unknown.text).toContain('No person and no group is known as nobody@acme.example');
  });

  it('explain of a group shows its name at the target and its member counts, and of a group out of scope the verdict notForTarget', async () => {
    expect(await explain('sales')).toMatchObject({
      kind: 'Group',
      verdict: 'asDesired',
      nameAtTarget: 'Sales',
      members: { desired: 1, toAdd: 0, toRemove: 0, unknown: [] },
    });
    expect(await explain('private club')).toMatchObject({ verdict: 'notForTarget', inScope: false });
  });

  it("explain shows a protected user, a value that cannot be mapped, and a dead letter with the platform's message", async () => {
    await bridge.idp.createUser('boss@acme.example');
    const bob = await bridge.idp.send('POST', '/Users', {
      userName: 'bob@acme.example',
      title: 'high',
      active: true,
    });
    await bridge.idp.send('POST', '/Groups', {
      displayName: 'system:root',
      members: [{ value: bob.body.id }],
    });
    await untilSynced();
    expect(await explain('boss@acme.example')).toMatchObject({
      verdict: 'leftAlone',
      condition: { reason: 'Protected' },
      policy: { protected: true },
    });
    const found = await explain('bob@acme.example');
    expect(found).toMatchObject({ verdict: 'needsPerson', condition: { reason: 'AttributesNotWritten' } });
    expect(found.deadLetterSince).not.toBeNull();
    expect(found.values).toContainEqual(
      expect.objectContaining({ name: 'attributes.level', state: 'unmappable' }),
    );
    const group = await explain('system:root');
    expect(group).toMatchObject({ verdict: 'needsPerson', condition: { reason: 'Refused', status: 400 } });
    expect(found.memberships).toEqual([
      expect.objectContaining({
        name: 'system:root',
        state: 'toAdd',
        condition: 'Refused',
        because: expect.stringContaining(group.condition.message),
      }),
    ]);
  });

  it('explain shows held changes, and finds a deleted user by name', async () => {
    const leavers = await Promise.all(
      ['l1@acme.example', 'l2@acme.example'].map((name) => bridge.idp.createUser(name)),
    );
    await untilSynced();
    // The deactivations come one after the other, because two together exceed the guard's limit and are held.
    for (const id of leavers) {
      await bridge.idp.send('DELETE', `/Users/${id}`);
      await untilSynced();
    }
    const found = [await explain('l1@acme.example'), await explain('l2@acme.example')];
    expect(found.map(({ verdict }) => verdict).sort()).toEqual(['gone', 'held']);
    for (const { deletedAt, stored } of found) expect([typeof deletedAt, stored]).toEqual(['string', null]);
    const held = found.find(({ verdict }) => verdict === 'held');
    expect(held.guard).toEqual([{ kind: 'deactivate', subject: null, state: 'held' }]);
    expect(held.reasons.join()).toContain(`scim-bridge approvals show ${held.approval}`);
  });

  it('while the target is on hold, explain of a changed person has the verdict stopped, the note of the hold and the id of the push', async () => {
    await commands.run('hold', '--note', 'audit');
    await bridge.idp.patch(`/Users/${ada}`, { op: 'replace', path: 'displayName', value: 'Ada' });
    const found = await explain('hr-1');
    expect(found).toMatchObject({ verdict: 'stopped', hold: { note: 'audit' } });
    expect(found.mark.request).toMatch(/^\w{12}/);
    await commands.run('release');
    await untilSynced();
  });
});

describe('the command sync', () => {
  it('sync of a user writes account, attributes and memberships without a worker, and prints each step', async () => {
    await commands.run('hold');
    const id = await bridge.idp.createUser('cyd@acme.example');
    await bridge.idp.send('POST', '/Groups', { displayName: 'Ops', members: [{ value: id }] });
    const stopped = await commands.run('sync', 'cyd@acme.example', '--json');
    expect(stopped).toMatchObject({ code: 2, json: [{ outcome: 'held' }] });
    const dry = await commands.run('sync', 'cyd@acme.example', '--dry-run', '--json');
    expect(dry).toMatchObject({
      code: 2,
      json: [
        {
          dryRun: true,
          steps: [],
          differences: [
            { action: 'create', after: { userName: 'cyd@acme.example' } },
            { action: 'addMember', name: 'Ops', member: { name: 'cyd@acme.example' } },
          ],
        },
      ],
    });
    expect(await bridge.platform.user('cyd@acme.example')).toBeUndefined();
    await bridge.app.stop();
    await commands.run('release');
    const { code, text } = await commands.run('sync', 'cyd@acme.example');
    expect([code, text]).toEqual([0, expect.stringContaining('create')]);
    expect(text).toContain('activate');
    expect(text).toContain('equal');
    expect(await bridge.platform.user('cyd@acme.example')).toMatchObject({ active: true, groups: ['Ops'] });
  }, 60_000);

  it('sync restores values changed by hand at the platform; a second sync changes nothing', async () => {
    const account = await bridge.platform.user('ada@acme.example');
    const { platformUrl, fixtures } = bridge.sandbox.ready;
    const answer = await fetch(`${platformUrl}/api/scim/v2/Users/${account?.scimId}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
        Operations: [{ op: 'replace', path: 'displayName', value: 'Somebody' }],
      }),
    });
    expect(answer.status).toBe(200);
    const dry = await commands.run('sync', 'hr-1', '--dry-run');
    expect([dry.code, dry.text]).toEqual([2, expect.stringContaining('displayName: "Somebody" → "Ada"')]);
    expect((await commands.run('sync', 'hr-1')).code).toBe(0);
    expect(await bridge.platform.user('ada@acme.example')).toMatchObject({ displayName: 'Ada' });
    await bridge.platform.forgetRequests();
    const again = await commands.run('sync', 'hr-1', '--json');
    expect(again).toMatchObject({ code: 0, json: [{ outcome: 'equal', steps: [], differences: [] }] });
    expect(await bridge.platform.writes()).toEqual([]);
    expect((await commands.run('sync', 'hr-1', '--dry-run')).code).toBe(0);
  }, 60_000);

  it('sync exits 1 for a dead letter and 4 for an unknown name', async () => {
    expect((await commands.run('sync', 'system:root', '--json')).code).toBe(1);
    expect((await commands.run('sync', 'nobody@acme.example')).code).toBe(4);
  });
});
