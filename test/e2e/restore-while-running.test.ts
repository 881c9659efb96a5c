// Tests that a restore is refused while a process of the service runs, and that it restores unbroken logs after the stop.
import { hostname } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { openPlace } from '../support/situation.ts';
import { watchCommands } from '../support/watch-commands.ts';

test('restore is refused while the service runs, and after its stop restores with unbroken logs', async () => {
  const place = await openPlace({});
  const status = async () => (await place.commands.run('status', '--json')).json[0];
  try {
    const names = Array.from({ length: 100 }, (_, index) => `u${index}@acme.example`);
    const ids = await Promise.all(names.map((name) => place.idp.createUser(name)));
    await place.idle();
    const file = join(place.commands.folder, 'b.ndjson');
    await place.commands.run('backup', file);
    await place.platform.control('PATCH', '/faults', { latencyMs: [0, 400] });
    const change = { op: 'replace', path: 'displayName', value: 'New' };
    await Promise.all(ids.map((id) => place.idp.patch(`/Users/${id}`, change)));
    await eventually('syncs are under way', async () => (await status()).inflight > 5);
    const refused = await place.commands.run('restore', file, '--replace', '--yes');
    expect([refused.code, refused.text]).toEqual([
      1,
      expect.stringContaining(
        `The service runs: all ${hostname()} (process ${process.pid}). Nothing was changed. Stop every process (docs/restore.md says how: virtual machine, container, Kubernetes), then repeat the command.`,
      ),
    ]);
    expect((await status()).hold).toBeNull();
    expect((await place.idp.send('GET', '/Users?count=0')).body.totalResults).toBe(100);
    await place.stopApps();
    const restored = await place.commands.run('restore', file, '--replace', '--yes');
    expect([restored.code, restored.text]).toEqual([0, expect.stringContaining('100 users')]);
    expect((await place.commands.run('log', '--verify')).code).toBe(0);
  } finally {
    await place.stop();
  }
}, 60_000);

test.each(['api', 'worker', 'scheduler'] as const)(
  'restore into an empty Redis is refused while a process of the role %s runs',
  async (role) => {
    const place = await openPlace({ roles: [] });
    try {
      const file = join(place.commands.folder, 'b.ndjson');
      await place.commands.run('backup', file);
      await place.start(role, '1.0.0');
      const refused = await place.commands.run('restore', file);
      expect([refused.code, refused.text]).toEqual([
        1,
        expect.stringContaining(`The service runs: ${role} pod-${role} (process ${process.pid}).`),
      ]);
      await place.stopApps();
      expect((await place.commands.run('restore', file)).code).toBe(0);
    } finally {
      await place.stop();
    }
  },
  30_000,
);

test('restore waits until the last heartbeat of a killed process is overdue', async () => {
  const place = await openPlace({});
  try {
    await place.idp.createUser('ada@acme.example');
    await place.idle();
    const file = join(place.commands.folder, 'b.ndjson');
    await place.commands.run('backup', file);
    const beats = `${place.settings.redis.prefix}:{bridge.fleet}:processes`;
    const before = await eventually('the beat', async () => {
      const found = await place.redis.hgetall(beats);
      return Object.keys(found).length > 0 && found;
    });
    await place.stopApps();
    // A killed process leaves its last beat.
    await place.redis.hset(beats, before);
    const { code, text } = await place.commands.run('restore', file, '--replace', '--yes');
    expect([code, text]).toEqual([0, expect.stringContaining('1 user')]);
    expect(text).toContain('was killed a moment ago');
  } finally {
    await place.stop();
  }
}, 60_000);

test('restore is refused and changes nothing while another restore runs', async () => {
  const place = await openPlace({});
  try {
    for (let number = 0; number < 30; number++) await place.idp.createUser(`u${number}@acme.example`);
    await place.idle();
    const file = join(place.commands.folder, 'b.ndjson');
    await place.commands.run('backup', file);
    await place.stopApps();
    const restore = () => place.commands.run('restore', file, '--replace', '--yes');
    // A small restore may end before a second one begins, so the lease stands for a restore of another machine.
    const lease = `${place.settings.redis.prefix}:{bridge.fleet}:restoreLease`;
    await place.redis.set(lease, 'another machine', 'PX', 60_000);
    const { code, text } = await restore();
    expect([code, text]).toEqual([
      1,
      expect.stringContaining('Another restore is under way. Nothing was changed.'),
    ]);
    expect(await place.redis.get(lease)).toBe('another machine');
    const { hold } = (await place.commands.run('status', '--json')).json[0];
    expect(hold).toBeNull();
    await place.redis.del(lease);
    let isOver = false;
    const restoring = restore().finally(() => (isOver = true));
    await eventually(
      'the restore has the lease',
      async () => (await place.redis.exists(lease)) === 1 || isOver,
    );
    expect(isOver).toBe(false);
    expect((await restoring).code).toBe(0);
    expect(await place.redis.exists(lease)).toBe(0);
  } finally {
    await place.stop();
  }
}, 60_000);

test('a restore fails before it removes anything → the stored data is still usable', async () => {
  const place = await openPlace({});
  try {
    await place.idp.createUser('ada@acme.example');
    await place.idle();
    const file = join(place.commands.folder, 'b.ndjson');
    await place.commands.run('backup', file);
    await place.stopApps();
    const acts = `${place.settings.redis.prefix}:{default}:acts`;
    await place.redis.set(acts, 'no stream');
    expect((await place.commands.run('restore', file, '--replace', '--yes')).code).not.toBe(0);
    await place.redis.del(acts);
    expect((await place.commands.run('status')).text).toContain('1 user');
    await place.start();
  } finally {
    await place.stop();
  }
}, 60_000);

test('a restore runs or was interrupted → service and commands refuse the data until a restore has completed', async () => {
  const place = await openPlace({ roles: [] });
  const key = `${place.settings.redis.prefix}:{bridge.fleet}:restoring`;
  const words = /A restore began at \S+ and has not ended: .* restore again, with --replace/;
  try {
    const file = join(place.commands.folder, 'b.ndjson');
    const app = await place.start();
    for (let number = 0; number < 30; number++) await place.idp.createUser(`u${number}@acme.example`);
    await place.idle();
    await place.commands.run('backup', file);
    // A process that the restore did not see, because it hung, ends when it finds the note of the restore.
    await place.redis.set(key, '2026-11-26T00:00:00.000Z');
    expect((await app.refused).message).toMatch(words);
    await place.stopApps();
    for (const args of [['status'], ['doctor'], ['backup', join(place.commands.folder, 'half')], ['serve']]) {
      const { code, text } = await place.commands.run(...args);
      expect([args, code, text]).toEqual([args, 1, expect.stringMatching(words)]);
    }
    await place.redis.del(key);
    // The restore may end before a poll sees its note, so Redis tells every command that names the note.
    const seen: string[] = [];
    const unwatch = await watchCommands(place.redis, (args) => {
      if (args.includes(key)) seen.push(args[0]?.toLowerCase() ?? '');
    });
    try {
      expect((await place.commands.run('restore', file, '--replace', '--yes')).code).toBe(0);
      await eventually('the restore was announced and has ended', () =>
        Promise.resolve(seen.includes('getset') && seen.includes('del')),
      );
    } finally {
      unwatch();
    }
    // A restore that was broken off can be repeated.
    await place.redis.set(key, '2026-11-26T00:00:00.000Z');
    expect((await place.commands.run('restore', file, '--replace', '--yes')).code).toBe(0);
    expect(await place.redis.exists(key)).toBe(0);
    await place.start();
    expect((await place.commands.run('status')).text).toContain('30 users');
  } finally {
    await place.stop();
  }
}, 60_000);
