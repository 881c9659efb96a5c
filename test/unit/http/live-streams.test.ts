// Tests the streams of the live status without HTTP: how often the status is read, and what a failing Redis changes.
import { createLiveStreams } from '../../../src/http/admin/live.ts';
import { systemClock } from '../../../src/support/sources.ts';
import { eventually } from '../../support/eventually.ts';

const caller = { isStillValid: () => Promise.resolve(true) };

/** Reads a stream in the background. */
function collect(streams: ReturnType<typeof createLiveStreams>, as = caller) {
  const left = new AbortController();
  const answer = streams.open(as, left.signal);
  const texts: string[] = [];
  const read = async (): Promise<void> => {
    if (answer.kind !== 'pieces') return;
    for await (const text of answer.pieces) texts.push(String(text));
  };
  return { texts, leave: () => left.abort(), ended: read() };
}

test('the status is read once for all live streams, and not at all while no stream is open', async () => {
  let reads = 0;
  const streams = createLiveStreams({ clock: systemClock }, () => Promise.resolve([++reads]));
  expect(reads).toBe(0);
  const open = Array.from({ length: 5 }, () => collect(streams));
  await eventually('all have a second status', () =>
    open.every(({ texts }) => texts.some((text) => text.includes('data: [2]'))),
  );
  expect(reads).toBe(2);
  streams.end();
  await Promise.all(open.map(({ ended }) => ended));
  const one = collect(streams);
  one.leave();
  await one.ended;
  streams.stop();
  expect(() => streams.open(caller, new AbortController().signal)).toThrow('Too many pages');
}, 15_000);

test('a live stream sends an unchanged status once', async () => {
  const streams = createLiveStreams({ clock: systemClock }, () => Promise.resolve(['same']));
  const { texts, leave, ended } = collect(streams);
  await eventually(
    'two keep-alive events',
    () => texts.filter((text) => text.startsWith('event: beat')).length >= 2,
  );
  leave();
  await ended;
  expect(texts.filter((text) => text.startsWith('event: status'))).toHaveLength(1);
}, 15_000);

test('while Redis does not answer, a live stream sends its keep-alive events and nothing else', async () => {
  const never = new Promise<never>(() => undefined);
  const streams = createLiveStreams({ clock: systemClock }, () => never);
  const { texts, leave, ended } = collect(streams, { isStillValid: () => never });
  await eventually('a keep-alive event', () => texts.length > 0);
  leave();
  await ended;
  expect(texts).toEqual(['event: beat\ndata: {"statusAgeMs":null}\n\n']);
}, 15_000);

test("a live stream ends after its lifetime, or when the caller's session is no longer valid", async () => {
  const streams = createLiveStreams({ clock: systemClock }, () => Promise.resolve([]), { lifeMs: 50 });
  await collect(streams).ended;
  const refused = collect(streams, { isStillValid: () => Promise.resolve(false) });
  await refused.ended;
  expect(refused.texts).toEqual([]);
}, 15_000);
