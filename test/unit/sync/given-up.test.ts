// Tests which dead letters about the account of another connection count as given up.
import type { Condition } from '../../../src/directory/outbox/link-condition.ts';
import type { Ref } from '../../../src/directory/records.ts';
import { givenUpAmong } from '../../../src/sync/names/taken-by-connection.ts';

const REFS = Array.from({ length: 10_000 }, (_, index): Ref => `User:${index}`);
const CONDITIONS = REFS.map(
  (_, index) => ({ reason: 'TakenByConnection', takenId: `a${index}` }) as Condition,
);

/** Returns the facts of a target at which another connection is linked to the account `a0` alone, and the number of looks for losses. */
function target(mayLackLinks: boolean) {
  const asked = { losses: 0 };
  const elsewhere = {
    holderOf: (_target: string, _kind: string, id: string) => Promise.resolve(id === 'a0' ? {} : undefined),
    mayLackLinks: () => {
      asked.losses++;
      return Promise.resolve(mayLackLinks);
    },
  };
  const scope = { links: { elsewhere }, outbox: { target: 'main', settings: {} } };
  return { asked, scope: scope as unknown as Parameters<typeof givenUpAmong>[0] };
}

test('10,000 dead letters are about accounts that no other connection is linked to → whether links are lost is asked once', async () => {
  const { asked, scope } = target(false);
  expect(await givenUpAmong(scope, REFS, CONDITIONS)).toEqual(REFS.slice(1));
  expect(asked.losses).toBe(1);
});

test('another connection may have lost links → no dead letter counts as given up', async () => {
  const { asked, scope } = target(true);
  expect(await givenUpAmong(scope, REFS, CONDITIONS)).toEqual([]);
  expect(asked.losses).toBe(1);
});
