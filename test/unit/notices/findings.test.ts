// Tests what doctor tells of a channel of notices whose last attempt failed: when it sends again.
import type { NoticeChannelState } from '../../../src/directory/notice-store.ts';
import { digestOfAddress } from '../../../src/notices/deliver.ts';
import { noticeFindings } from '../../../src/notices/findings.ts';

const url = 'https://chat.example.com/hook';
const NOW = Date.parse('2026-11-30T12:00:00Z');
const HOUR = 3_600_000;
const message = { id: 'msg_1', at: NOW - HOUR, changes: [], attempts: 0, nextAt: 0 };
const pauseUntil = (until: number | null) => ({ address: digestOfAddress(url), until });

async function adviceFor(state: Partial<NoticeChannelState>): Promise<string | undefined> {
  const failed: NoticeChannelState = {
    told: {},
    message: null,
    pause: null,
    lastSuccessAt: null,
    lastFailureAt: NOW - HOUR,
    problem: 'answers 404',
    ...state,
  };
  const [finding] = await noticeFindings({ read: () => Promise.resolve(failed) }, { ops: { url } }, NOW);
  return finding?.advice ?? undefined;
}

it.each([
  ['a pause that has ended and nothing to be told', { pause: pauseUntil(NOW - 1) }],
  ['the first attempt of a message under way', { pause: pauseUntil(NOW - 1), message }],
  ['a message that is due now', { message: { ...message, attempts: 2, nextAt: NOW - 5 } }],
])('a channel with %s → doctor names no time of the next attempt', async (_case, state) => {
  await expect(adviceFor(state)).resolves.toMatch(/\. Undelivered notices are sent again\.$/);
});

it.each([
  ['a pause', { pause: pauseUntil(NOW + HOUR) }],
  ['a later attempt', { message: { ...message, attempts: 2, nextAt: NOW + HOUR } }],
])('a channel that waits for the end of %s → doctor names its time', async (_case, state) => {
  await expect(adviceFor(state)).resolves.toContain('are sent again at 2026-11-30T13:00:00.000Z');
});
