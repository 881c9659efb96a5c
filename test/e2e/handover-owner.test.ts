// Tests that the handover moves the items of the closed account only, also when the link has the number of another person.
import '../support/load-modules.ts';
import { parseLink, toLinkText } from '../../src/directory/outbox/link.ts';
import { Redis } from 'ioredis';
import { createScenario } from '../support/scenario.ts';
import { openWorkspace } from '../support/workspace.ts';

const test = createScenario(openWorkspace, ({ stop }) => stop());

test("the link of a closed account has the account id of another person → the other person's items stay, and the leaver's items are moved", async ({
  bridge,
  commands,
  pathOf,
  bring,
  close,
}) => {
  const ann = await bring('ann');
  const bob = await bring('bob');
  await close(ann.id, ann.userName);
  const { redis: settings } = bridge.config;
  const redis = new Redis(settings.url);
  const key = `${settings.prefix}:{default}:links:main`;
  const [links = key] = await redis.keys(`${settings.prefix}:*links:main`);
  const link = parseLink((await redis.hget(links, `User:${ann.id}`)) ?? '');
  const account = String((await bridge.platform.user(bob.userName))?.id);
  await redis.hset(links, `User:${ann.id}`, toLinkText({ ...link, account }));
  redis.disconnect();
  const ran = await commands.run('reconcile', '--yes');
  expect(ran.text).toContain('handed over 3 items');
  await expect(pathOf('ann book')).resolves.toBe(`Team/${ann.userName}`);
  await expect(pathOf('bob book')).resolves.toBe('');
});
