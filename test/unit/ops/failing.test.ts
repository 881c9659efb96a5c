// Tests what status says of changes that fail again and again.
import type { DesiredState } from '../../../src/directory/desired-state.ts';
import { failingText } from '../../../src/ops/status/failing.ts';

const SINCE = Date.parse('2026-03-01T12:00:00Z');

/** Returns the stores of a connection at which the changes of so many people wait and fail; none has an account. */
function stateWith(count: number): Pick<DesiredState, 'directory' | 'links' | 'outboxes'> {
  const refs = Array.from({ length: count }, (_each, index) => `User:u${index}`);
  const condition = { reason: 'NotApplied', message: 'GET /api/v1/users/me answered 503', since: SINCE };
  return {
    directory: { getMany: () => Promise.resolve([]) },
    links: {
      getMany: (_target: string, found: string[]) =>
        Promise.resolve(found.map(() => ({ attempts: 2, condition }))),
    },
    outboxes: new Map([
      [
        'main',
        {
          waiting: ({ limit }: { limit: number }) =>
            Promise.resolve(refs.slice(0, limit).map((ref) => ({ ref }))),
        },
      ],
    ]),
  } as unknown as Pick<DesiredState, 'directory' | 'links' | 'outboxes'>;
}

test.each([
  [3, '3 changes fail since 2026-03-01T12:00:00.000Z: u0, u1, u2; the first: '],
  [
    2000,
    'at least 1000 changes fail since 2026-03-01T12:00:00.000Z: u0, u1, u2, u3, u4 and 995 more; the first: ',
  ],
])(
  '%i changes fail → status counts these, and says "at least" if it has not read all',
  async (count, text) => {
    expect(await failingText(stateWith(count), 'main')).toBe(`${text}GET /api/v1/users/me answered 503`);
  },
);
