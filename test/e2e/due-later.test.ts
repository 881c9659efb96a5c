// Tests that a command without a worker does not wait for minutes for a change that is due only later.
import { openPlace } from '../support/situation.ts';

test('no worker runs and the account of a group member is due only in ten minutes → reconcile gives up after about 30 s and names the account and the time', async () => {
  const place = await openPlace({ roles: ['api'] });
  try {
    const ann = await place.idp.createUser('ann@acme.example');
    await place.idp.createGroup('crew', [ann]);
    const dirty = await place.key(':dirty:main');
    const score = Number(await place.redis.zscore(dirty, `User:${ann}`));
    await place.redis.zadd(dirty, String(score + 600_000), `User:${ann}`);
    const { code, text } = await place.commands.run('reconcile', '--yes', '--deadline', '80s');
    expect(code).toBe(1);
    expect(text).toMatch(
      new RegExp(
        `failed: 1 change not applied yet: User:${ann} is not due before 20\\S+Z, and scim-bridge explain User:${ann} tells why`,
      ),
    );
  } finally {
    await place.stop();
  }
}, 120_000);
