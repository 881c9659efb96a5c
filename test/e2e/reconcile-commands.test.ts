// Tests plan, apply and reconcile as an operator and a CronJob run them: exit codes, saved plans, guard, and kill -9.
import { Ajv } from 'ajv';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSaved, savedPieces } from '../../src/reconcile/plan.ts';
import '../support/load-modules.ts';
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { createCommands, type Answer, type Commands } from '../support/command.ts';
import { createScenario } from '../support/scenario.ts';
import { brief, openReconciling, scimPatch, type Reconciling } from '../support/reconciling.ts';
import { settingsFor } from '../support/settings.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');
const PEOPLE = Array.from({ length: 30 }, (_, index) => `p${index}@acme.example`);

/** A company whose users are synced, and its operator. */
interface Context {
  bridge: Bridge;
  rec: Reconciling;
  /** File of the saved plan. */
  file: string;
  /** Runs a command in this process. */
  run: (...args: string[]) => Promise<Answer>;
  /** Runs a command with other settings of the target. */
  runWith: (change: (target: any) => void, ...args: string[]) => Promise<Answer>;
  /** Starts a command as a process, with other settings of the target if there is a change. */
  start: (args: string[], change?: (target: any) => void) => { ended: Promise<Ended>; kill: () => void };
  /** Changes the display name at the platform by hand. */
  rename: (userName: string, value: string) => Promise<unknown>;
  close: () => Promise<void>;
}

interface Ended {
  code: number | null;
  out: string;
}

function startCommand(args: string[]): { ended: Promise<Ended>; kill: () => void } {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  const ended = new Promise<Ended>((resolve) => child.once('exit', (code) => resolve({ code, out })));
  return { ended, kill: () => void child.kill('SIGKILL') };
}

/** Scripts rely on config/plan.schema.json. */
function expectPublishedForm(json: string): void {
  const isPublishedForm = new Ajv({ strict: true, allowUnionTypes: true }).compile(
    JSON.parse(readFileSync('config/plan.schema.json', 'utf8')),
  );
  isPublishedForm(JSON.parse(json));
  expect(isPublishedForm.errors ?? []).toEqual([]);
}

async function openContext(): Promise<Context> {
  const bridge = await buildBridge({
    configure: (config) => {
      Object.assign(config.targets.main?.attributes ?? {}, {
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'clear' },
      });
      if (config.targets.main) config.targets.main.guard.deactivate.count = 5;
    },
  });
  const rec = await openReconciling(bridge);
  for (const name of PEOPLE)
    await bridge.idp.createUser(name, { addresses: [{ type: 'work', country: 'PT' }] });
  await rec.untilSynced();
  // From here on no service runs, so the commands do all the work.
  await bridge.app.stop();
  const settingsWith = (change: (target: any) => void): object => {
    const target = {
      attributes: {
        country: { type: 'string', from: 'addresses[type eq "work"].country', onEmpty: 'clear' },
      },
      guard: { deactivate: { count: 5 } },
    };
    change(target);
    const { url, prefix } = bridge.config.redis;
    return settingsFor(bridge.sandbox, target, { redis: { url, prefix } });
  };
  const opened: Commands[] = [];
  const open = (change: (target: any) => void): Commands => {
    const commands = createCommands(settingsWith(change));
    opened.push(commands);
    return commands;
  };
  const commands = open(() => undefined);
  return {
    bridge,
    rec,
    file: join(commands.folder, 'plan.json'),
    run: (...args) => commands.run(...args),
    runWith: (change, ...args) => open(change).run(...args),
    start: (args, change) => {
      const { folder } = change ? open(change) : commands;
      return startCommand(['--config', join(folder, 'bridge.json'), ...args]);
    },
    rename: async (userName, value) =>
      rec.meddle(
        'PATCH',
        `/api/scim/v2/Users/${(await bridge.platform.user(userName))?.scimId}`,
        scimPatch({ op: 'replace', path: 'displayName', value }),
      ),
    close: async () => {
      await rec.stop();
      await bridge.sandbox.stop();
      for (const each of opened) each.remove();
    },
  };
}

const test = createScenario(openContext, ({ close }) => close());
/** A run after a killed one waits 30 s for its lease; other runs do not wait. */
const afterKill = createScenario(openContext, ({ close }) => close());

test('plan exits 0 without changes and 2 with changes, and writes nothing', async ({
  bridge,
  run,
  rename,
}) => {
  await expect(run('plan')).resolves.toMatchObject({ code: 0, text: expect.stringContaining('no changes') });
  await rename(PEOPLE[0] ?? '', 'Meddled');
  await bridge.platform.forgetRequests();
  const { code, text } = await run('plan');
  expect([code, text]).toEqual([2, expect.stringContaining('1 change. 1 to update.')]);
  expect(text).toContain('displayName: "Meddled" → "Jo p0@acme.example"');
  await expect(bridge.platform.writes()).resolves.toEqual([]);
}, 60_000);

test('reconcile, run as a CronJob, repairs and exits 0, and the next run writes nothing', async ({
  bridge,
  start,
}) => {
  await expect(start(['reconcile', '--yes']).ended).resolves.toMatchObject({ code: 0 });
  expect((await bridge.platform.user(PEOPLE[0] ?? ''))?.displayName).toBe('Jo p0@acme.example');
  await bridge.platform.forgetRequests();
  await expect(start(['reconcile', '--json']).ended).resolves.toMatchObject({
    code: 0,
    out: expect.stringContaining('"outcome":"converged"'),
  });
  await expect(bridge.platform.writes()).resolves.toEqual([]);
}, 60_000);

test('a plan that could not read the platform exits 1 and leaves an already saved file as it is', async ({
  bridge,
  file,
  run,
}) => {
  writeFileSync(file, 'a plan that somebody has read');
  await bridge.platform.control('PATCH', '/faults', {
    rules: [{ method: 'GET', path: '/scim/v2/Users', truncateLists: { share: 1, keep: 0.5, mode: 'page' } }],
  });
  const { code, text, errors } = await run('plan', '--out', file);
  await bridge.platform.control('PATCH', '/faults', {});
  expect(code).toBe(1);
  expect(errors).toContain(`${file} was not written.`);
  expect(text).not.toContain('Saved');
  expect(readFileSync(file, 'utf8')).toBe('a plan that somebody has read');
}, 60_000);

test('apply writes a saved plan exactly, and refuses it after a change of state or an edit of the file', async ({
  bridge,
  file,
  run,
  rename,
}) => {
  await rename(PEOPLE[1] ?? '', 'Meddled');
  await expect(run('plan', '--out', file)).resolves.toMatchObject({ code: 2 });
  expectPublishedForm(readFileSync(file, 'utf8'));
  expect(parseSaved(readFileSync(file, 'utf8'))[0]?.entries.map(brief)).toContain(
    `update | ${PEOPLE[1]} | platform changed`,
  );
  // Later drift is not part of this plan.
  await rename(PEOPLE[2] ?? '', 'Later');
  await expect(run('apply', file, '--yes')).resolves.toMatchObject({ code: 0 });
  expect((await bridge.platform.user(PEOPLE[1] ?? ''))?.displayName).toBe('Jo p1@acme.example');
  expect((await bridge.platform.user(PEOPLE[2] ?? ''))?.displayName).toBe('Later');

  // A second apply does not compare changes of a push again, because a sync writes them: it reports them as done.
  const [done] = parseSaved(readFileSync(file, 'utf8'));
  if (!done) throw new Error('The file holds no plan.');
  const pushed = done.entries.map((each) => ({ ...each, attribution: { cause: 'source changed' as const } }));
  writeFileSync(file, [...savedPieces([{ ...done, entries: pushed }])].join(''));
  await expect(run('apply', file, '--yes')).resolves.toMatchObject({
    code: 0,
    text: expect.stringMatching(
      /converged: nothing is left to do of (the change|all \d+ changes) of the plan/,
    ),
  });

  await expect(run('apply', `${file}.missing`, '--yes')).resolves.toMatchObject({
    code: 1,
    errors: expect.stringContaining(`There is no file ${file}.missing.`),
  });

  await run('plan', '--out', file);
  await rename(PEOPLE[2] ?? '', 'Even later');
  await bridge.platform.forgetRequests();
  await expect(run('apply', file, '--yes')).resolves.toMatchObject({
    code: 3,
    errors: expect.stringContaining('stale'),
  });
  await expect(bridge.platform.writes()).resolves.toEqual([]);

  writeFileSync(file, readFileSync(file, 'utf8').replace('Later', 'Mallory'));
  await expect(run('apply', file, '--yes')).resolves.toMatchObject({
    code: 1,
    errors: expect.stringContaining('changed after it was made'),
  });
}, 60_000);

test('plan with other settings lists their effect on all users without writes', async ({ start, run }) => {
  const change = (target: any): void => {
    target.attributes.country.expression = '"X"';
    delete target.attributes.country.from;
    target.users = { scope: 'userName ne "p3@acme.example"' };
  };
  const { code, out } = await start(['plan', '--json'], change).ended;
  expect(code).toBe(2);
  expectPublishedForm(out);
  const { counts, entries } = JSON.parse(out).plans[0];
  expect(counts).toMatchObject({ setAttribute: 29, deactivate: 1 });
  expect(entries.map(brief)).toContain('deactivate | p3@acme.example | mapping changed');
  await expect(run('reconcile', '--yes')).resolves.toMatchObject({ code: 0 });
}, 60_000);

test("reconcile holds deactivations beyond the guard's limit, writes the other changes and exits 2", async ({
  bridge,
  runWith,
  run,
  rename,
}) => {
  const narrow = (target: any): void => {
    target.users = {
      scope: PEOPLE.slice(0, 20)
        .map((name) => `userName ne "${name}"`)
        .join(' and '),
    };
  };
  await rename(PEOPLE[29] ?? '', 'Meddled');
  const { code, text } = await runWith(narrow, 'reconcile', '--yes');
  expect([code, text]).toEqual([2, expect.stringContaining('guard holds 20')]);
  const { users } = await bridge.platform.state();
  expect(users.filter(({ userName, active }) => PEOPLE.includes(userName) && !active)).toEqual([]);
  expect((await bridge.platform.user(PEOPLE[29] ?? ''))?.displayName).toBe('Jo p29@acme.example');
  // The former settings are restored, so the held changes are removed and nothing is pending.
  await expect(run('reconcile', '--yes')).resolves.toMatchObject({ code: 0 });
}, 60_000);

afterKill(
  'after a reconcile that was killed between its writes, the next one repairs the rest, and a third one writes nothing',
  async ({ bridge, run, start, rename }) => {
    for (const name of PEOPLE.slice(5, 25)) await rename(name, 'Meddled');
    await bridge.platform.control('PATCH', '/faults', { latencyMs: 40 });
    await bridge.platform.forgetRequests();
    const first = start(['reconcile', '--yes']);
    for (let tries = 0; tries < 400 && (await bridge.platform.writes()).length < 3; tries++)
      await new Promise((resolve) => setTimeout(resolve, 25));
    first.kill();
    await first.ended;
    await bridge.platform.control('PATCH', '/faults', {});
    await expect(run('reconcile', '--yes')).resolves.toMatchObject({ code: 0 });
    const { users } = await bridge.platform.state();
    expect(users.filter(({ displayName }) => displayName === 'Meddled')).toEqual([]);
    await bridge.platform.forgetRequests();
    await expect(run('reconcile', '--yes')).resolves.toMatchObject({ code: 0 });
    await expect(bridge.platform.writes()).resolves.toEqual([]);
  },
  120_000,
);
