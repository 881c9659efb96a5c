// Tests what plan tells about settings that give a mapped attribute another type, while other values of the people change too.
import '../support/load-modules.ts';
import { createCommands } from '../support/command.ts';
import { openPlace } from '../support/situation.ts';

test('plan with settings that give an attribute another type and add one → it tells that syncs end as dead letters, and after the restart everybody with a value is one', async () => {
  const place = await openPlace({});
  const run = (...args: string[]) => place.commands.run(...args);
  for (const [name, title] of [
    ['ann', '3'],
    ['bob', '4'],
    ['cyd', undefined],
  ])
    await place.idp.createUser(`${name}@acme.example`, title ? { nickName: title } : {});
  const before = { grade: { type: 'number', from: 'nickName' } };
  const after = {
    grade: { type: 'string', from: 'nickName' },
    login: { type: 'string', from: 'userName' },
  };
  await place.change(({ targets }) => void (targets.main.attributes = before));
  await run('reconcile', '--yes');
  await place.idle();
  const settings = structuredClone(place.settings);
  settings.targets.main.attributes = after;
  const next = createCommands(settings);
  const plan = (await next.run('plan')).text.replaceAll(/\s+/g, ' ');
  next.remove();
  await place.change(({ targets }) => void (targets.main.attributes = after));
  await run('reconcile', '--yes');
  await place.idle();
  const letters = (await run('dead-letters', 'list')).text;
  await place.stop();
  expect(letters.match(/AttributesNotWritten/g)).toHaveLength(2);
  expect(plan).toContain(
    'Until then a sync that has a value of another type to write, or a new value, ends as a dead letter',
  );
}, 90_000);
