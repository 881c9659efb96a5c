// Tests which resources count as unread after a resource that changed during a read was read again.
import type { Ref } from '../../../src/directory/records.ts';
import { isUnverified, lookAgain, readNoted, toLook } from '../../../src/reconcile/compare/look-again.ts';
import type { ScanResult } from '../../../src/reconcile/scope.ts';

const REF: Ref = 'User:1';

/** Reads a user who changes during the first read; `reads` says for each read whether the values were unread. */
async function readTwice(reads: boolean[], unread: ScanResult['unread'] = new Map()) {
  const scan = { counts: { moved: 0 }, unread } as unknown as ScanResult;
  let read = 0;
  await lookAgain(scan, [REF], async () => {
    const areValuesUnread = reads[read++] ?? false;
    const before = [{ ref: REF, text: `{"v":${read}}`, marked: false }];
    const found = await readNoted(
      scan,
      before[0] as (typeof before)[0],
      () => Promise.resolve({ ref: REF, areValuesUnread }),
      isUnverified,
    );
    // []: after the first read the stored state is another one, so the user changed.
    return toLook([found], before, read === 1 ? [] : before);
  });
  expect(read).toBe(2);
  return [...unread.keys()];
}

test('values of a user are shown only by the second read → the user does not count as unread', async () => {
  await expect(readTwice([true, false])).resolves.toEqual([]);
});

test('no read shows the values of a user → the user counts as unread', async () => {
  await expect(readTwice([true, true])).resolves.toEqual([REF]);
});

test("an earlier comparison could not read a user's values → the user counts as unread, although this comparison reads them", async () => {
  const unread: ScanResult['unread'] = new Map([[REF, { ref: REF, name: 'ann', why: null }]]);
  await expect(readTwice([false, false], unread)).resolves.toEqual([REF]);
});
