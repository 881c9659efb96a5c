import type { EventDelivery } from '../../../src/directory/logs/event-stream.ts';
import { eventFindings } from '../../../src/ops/doctor/event-findings.ts';

const HOUR_MS = 3_600_000;
const QUIET: EventDelivery = {
  pending: 0,
  oldestMs: 0,
  kept: 0,
  delivered: 0,
  refused: 0,
  dropped: 0,
  droppedAt: null,
  problem: null,
};

async function warningsOf(delivery: Partial<EventDelivery>): Promise<string[]> {
  const state = {
    connection: 'okta',
    directory: { tellsEvents: true },
    events: { delivery: () => Promise.resolve({ ...QUIET, ...delivery }) },
  };
  const states = [state] as unknown as Parameters<typeof eventFindings>[0];
  return (await eventFindings(states, 0)).map(({ message }) => message);
}

test.each<[string, Partial<EventDelivery>, string[]]>([
  [
    'the last push failed and an event waits',
    { problem: 'gave no answer', pending: 1 },
    ['the receiver gave no answer; 1 event waits'],
  ],
  ['the last push failed and no event waits any more', { problem: 'gave no answer' }, []],
  [
    'a receiver that polls has left an event for more than an hour',
    { pending: 3, oldestMs: HOUR_MS + 1 },
    ['the receiver has not taken the oldest event for over an hour; 3 events wait'],
  ],
  ['events wait for less than an hour', { pending: 3, oldestMs: HOUR_MS }, []],
])(
  'doctor warns of security events only if they wait too long or after a failed push: %s',
  async (_name, delivery, expected) => {
    expect(await warningsOf(delivery)).toEqual(expected);
  },
);
