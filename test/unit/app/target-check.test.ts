// Tests the age of the last successful reconcile in the health report of a target that several connections feed.
import { checkTargetHealth } from '../../../src/app/target-check.ts';
import type { DesiredState } from '../../../src/directory/desired-state.ts';
import { RESOURCE_REASONS, toExceptionCounts } from '../../../src/directory/outbox/exceptions.ts';

const exceptions = toExceptionCounts(
  RESOURCE_REASONS.map(() => [0, '']),
  '',
  0,
);

/** Returns a connection whose last success was at this time; undefined: it had none. */
function stateOf(connection: string, lastSuccessAt: number | undefined): DesiredState {
  const backlog = { dirty: 0, inflight: 0, blocked: 0, held: {}, exceptions, now: 10_000 };
  const outbox = {
    backlog: () => Promise.resolve(backlog),
    hasMoved: () => Promise.resolve(false),
    guardStore: { onHold: () => Promise.resolve(undefined) },
  };
  const run = lastSuccessAt === undefined ? {} : { lastSuccessAt };
  return {
    connection,
    outboxes: new Map([['main', outbox]]),
    runs: new Map([['main', { read: () => Promise.resolve(run) }]]),
  } as unknown as DesiredState;
}

test.each([
  ['no connection had one', [undefined, undefined], null],
  ['one connection had none', [9000, undefined], null],
  ['all connections had one', [9000, 7000], 3000],
])(
  'the age of the last successful reconcile is that of the oldest of all connections, and null if a connection had none: %s',
  async (_what, times, age) => {
    const states = times.map((at, index) => stateOf(`idp${index}`, at));
    const check = await checkTargetHealth(states, 'main', { open: false });
    expect(check).toMatchObject({ reconcileAgeMs: age });
  },
);
