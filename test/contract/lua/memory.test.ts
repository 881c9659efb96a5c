// Measures the memory of Redis for one user (ADR 0014).
import { createHash, randomUUID } from 'node:crypto';
import type { Link } from '../../../src/directory/outbox/link.ts';
import { add, idOf, openStore } from './rig.ts';

const SALES = idOf('sales');

it('a user with indexes, link and one membership takes at most 2.5 KB of Redis memory', async () => {
  const store = await openStore();
  try {
    const count = 300;
    const ids = Array.from({ length: count }, (_, index) => String(index).padStart(20, 'u'));
    const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
    for (const id of ids) await store.putUser(id, personOf(id, digest(id)));
    await store.putGroup(SALES, 'Sales', [add(...ids)]);
    await store.settleAll();
    for (const id of ids) {
      const { userName, externalId, name } = personOf(id, digest(id));
      const core = {
        userName,
        externalId,
        emails: userName,
        active: true,
        displayName: `${name.givenName} Doe`,
      };
      const names = { 'name.givenName': name.givenName, 'name.familyName': 'Doe' };
      await store.outbox.mark([`User:${id}`], 'edit');
      const work = await store.begun(`User:${id}`);
      const attributes = { region: 'Lisbon', clearance: 3 };
      const more = { writtenAt: Date.now(), origin: 'created' as const, account: '123456' };
      const whole: Link = { id: randomUUID(), core: { ...core, ...names }, attributes, ...more };
      await store.outbox.save(work, whole, { linked: true });
      await store.outbox.ack(work, whole, { kind: 'synced' });
    }
    let bytes = 0;
    // `SAMPLES 0`: Redis measures every element of a key.
    for (const family of await store.families()) {
      if (!/^(deliveries|dirty|inflight|sequence)/.test(family))
        bytes += Number(await store.redis.call('MEMORY', 'USAGE', store.keys.key(family), 'SAMPLES', '0'));
    }
    expect(Math.round(bytes / count)).toBeLessThanOrEqual(2500);
  } finally {
    await store.close();
  }
});

/** Returns a full profile of 1.1 kB as stored. */
function personOf(id: string, digest: string) {
  const userName = `person.${id.slice(-6)}@company.example.com`;
  const name = { givenName: `Person ${id.slice(-4)}`, familyName: 'Doe' };
  const emails = [
    { value: userName, type: 'work', primary: true },
    { value: `home.${id.slice(-6)}@example.org`, type: 'home' },
  ];
  const rest = digest.repeat(12);
  return { userName, externalId: digest.slice(0, 20), name, emails, title: rest.slice(0, 820) };
}
