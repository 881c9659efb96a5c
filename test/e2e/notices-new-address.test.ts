// Tests the finding of doctor about a notice channel whose receiver answered 410 and which has a new address since.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import '../support/load-modules.ts';
import { eventually } from '../support/eventually.ts';
import { noticesOf, PAGE_URL, webhookTo } from '../support/notice-channel.ts';
import { startReceiver } from '../support/receiver.ts';
import { openPlace } from '../support/situation.ts';

test('a receiver answered 410 and its channel gets a new address → doctor says that a former address refused, and the next notice goes to the new one', async () => {
  const [former, present] = await Promise.all([startReceiver(), startReceiver()]);
  former.answers.push({ status: 410 });
  const noticesTo = (url: string) => ({ pageUrl: PAGE_URL, channels: { hook: webhookTo(url) } });
  const place = await openPlace({ rest: { notices: noticesTo(former.endpoint) } as object });
  const finding = async (): Promise<string | undefined> =>
    (await place.commands.run('doctor')).lines
      .join(' ')
      .replaceAll(/\s+/g, ' ')
      .match(/. notices hook:.*?(?= [✔✘!] |$)/)?.[0];
  await place.commands.run('hold', '--target', 'main');
  await eventually('the receiver is given up', async () => /^✘.*answered 410/.test((await finding()) ?? ''));
  const change = `No more notices are sent to this address: change notices.channels.hook.url`;
  expect(await finding()).toContain(change);

  await place.stopApps();
  const file = join(place.commands.folder, 'bridge.json');
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...settings, notices: noticesTo(present.endpoint) }));
  const told = await finding();
  expect(told).toMatch(
    /^! notices hook: a former address answered 410, and no message went to the address of these settings yet/,
  );
  expect(told).not.toContain(change);

  // A failure at the new address is one of this address, not of the former one.
  present.answers.push({ status: 503 });
  await place.start();
  await eventually('the new address failed', async () => /answered 503/.test((await finding()) ?? ''));
  expect(await finding()).toMatch(/^! notices hook: answered 503.*sent again at/);
  expect((await place.commands.run('notices', 'test', 'hook')).code).toBe(0);
  await eventually('the notice is sent', () => noticesOf(present).length === 3, 20_000);
  expect(await finding()).toMatch(/^✔ notices hook: last delivered/);
  expect(noticesOf(former)).toHaveLength(1);
  await place.stop();
  await Promise.all([former.stop(), present.stop()]);
}, 90_000);
