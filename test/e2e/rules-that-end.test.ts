// Tests expressions that never end: the current user gets a condition, and other users are synced.
import { buildBridge, type Bridge } from '../support/build-bridge.ts';
import { createCommands } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { targetHealth } from '../support/health.ts';

const ENDLESS = '($f := function($x){ $f($x+1) }; $f(0))';

let bridge: Bridge;
beforeAll(async () => {
  bridge = await buildBridge({
    configure: ({ targets: { main } }) => {
      if (!main) return;
      main.groups.exclude = ['^(x+)+y$'];
      Object.assign(main.attributes, {
        team: { type: 'string', expression: `title = "loop" ? ${ENDLESS} : title`, onEmpty: 'clear' },
      });
    },
  });
});
afterAll(() => bridge.stop());

test('the mapping rule of one user never ends → the user stays inactive as a dead letter with the reason, and other users are synced', async () => {
  const { idp, platform, app } = bridge;
  const caught = await idp.createUser('caught@acme.example', { title: 'loop' });
  await idp.createUser('free@acme.example', { title: 'sales' });
  let slowest = 0;
  await eventually('others arrive', async () => {
    const startedAt = Date.now();
    await fetch(`http://127.0.0.1:${app.port}/livez`);
    slowest = Math.max(slowest, Date.now() - startedAt);
    return (await platform.user('free@acme.example'))?.attributes.team === 'sales';
  });
  expect(slowest).toBeLessThan(1000);
  const blocked = async () => (await targetHealth(bridge)).blocked;
  await eventually('a dead letter', async () => (await blocked()) === 1);
  expect(await platform.user('caught@acme.example')).toMatchObject({ active: false });
  expect(bridge.logs.join('\n')).toContain('AttributesNotWritten');

  await idp.patch(`/Users/${caught}`, { op: 'replace', path: 'title', value: 'support' });
  await eventually('open', async () => (await platform.user('caught@acme.example'))?.active);
  expect(await blocked()).toBe(0);
});

test('a pattern of groups.rename would backtrack on a name of 900 characters → the group still arrives at the platform', async () => {
  const { idp, platform } = bridge;
  const name = 'x'.repeat(900);
  await idp.createGroup(name, []);
  await eventually('there', async () => (await platform.group(name)) !== undefined);
});

test('check-config refuses a rule that does not compile, as serve does, and warns of a rule that fails for a sample person', async () => {
  const target = {
    url: 'https://platform.example.com',
    token: 'sk-0123456789abcdef',
    groups: { include: ['^(a+)+$'], exclude: ['^(?!team-)'] },
    attributes: {
      good: { type: 'string', expression: '$uppercase(title)' },
      team: { type: 'string', expression: '$match(title, /(?<=a)b/)' },
    },
  };
  const settings = (changes: object) => ({
    connections: { default: { tokens: [{ name: 'one', secret: '0123456789abcdef0123' }] } },
    targets: { main: { ...target, ...changes } },
  });
  const run = async (changes: object) => {
    const commands = createCommands(settings(changes));
    return commands.run('check-config').finally(() => commands.remove());
  };
  const compiled = await run({});
  expect(compiled.code).toBe(78);
  expect(compiled.text).toContain('/targets/main/groups/exclude/0');
  expect(compiled.text).toContain('/targets/main/attributes/team/expression');
  expect(compiled.text).not.toContain('/groups/include/0');

  const attributes = {
    endless: { type: 'string', expression: ENDLESS },
    padded: { type: 'string', expression: '$pad("x", 5e8)' },
    doubled: { type: 'string', expression: '$length($reduce([1..28], function($a, $b){ $a & $a }, "x"))' },
  };
  const tried = await run({ groups: {}, attributes });
  expect(tried.code).toBe(0);
  expect(tried.text).toContain('The settings are valid');
  expect(tried.text).toContain('serve accepts it; a person for whom it fails becomes a dead letter.');
  expect(tried.text).toContain('Warning: /targets/main/attributes/endless/expression');
  expect(tried.text).toContain('Warning: /targets/main/attributes/padded/expression');
  expect(tried.text).toContain('Warning: /targets/main/attributes/doubled/expression');
  expect(tried.text).toContain('makes a value of more than 1000000 letters and elements');
  const good = { good: target.attributes.good };
  const clean = await run({ groups: {}, attributes: good });
  expect(clean.code).toBe(0);
  expect(clean.text).not.toContain('Warning');
});
