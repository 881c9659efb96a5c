// Sends a sample message to channels, for the operator who sets them up.
import type { Actor } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import type { NoticeStore } from '../directory/notice-store.ts';
import { isoTime, type Clock, type Ids } from '../support/sources.ts';
import { deliver, type NoticeReceiver } from './deliver.ts';
import { linkTo, type NoticeItem } from './summary.ts';

/** The answer of one receiver. */
export interface NoticeTestResult {
  channel: string;
  delivered: boolean;
  /** HTTP status; null without an answer. */
  status: number | null;
  /** Why the message was not delivered; null when it was. */
  problem: string | null;
}

interface NoticeTestDeps {
  clock: Clock;
  ids: Ids;
  store: NoticeStore;
  states: readonly DesiredState[];
  /** The channels of the settings by name. */
  channels: Readonly<Record<string, NoticeReceiver>>;
  /** Null only without channels. */
  pageUrl: string | null;
}

/**
 * Sends the message and records the order in the audit log.
 * @param names of channels; unknown ones are ignored
 * @returns one result for each known channel
 */
export async function testNotices(
  { clock, ids, store, states, channels, pageUrl }: NoticeTestDeps,
  names: readonly string[],
  actor: Actor,
  signal: AbortSignal,
): Promise<NoticeTestResult[]> {
  if (names.length === 0) return [];
  for (const { acts } of states)
    await acts.record({ act: 'testNotices', ...actor, subject: names.join(' '), count: names.length });
  const at = clock.now();
  const item: NoticeItem = {
    about: 'test',
    connection: null,
    target: null,
    reason: null,
    count: 0,
    state: 'new',
    since: isoTime(at),
    summary: 'this is a test of notices, nothing has happened',
    // `pageUrl` is set: there are channels.
    link: linkTo('test', pageUrl ?? ''),
  };
  return Promise.all(
    names.flatMap((channel) => {
      const receiver = channels[channel];
      return receiver ? [send(channel, receiver)] : [];
    }),
  );

  async function send(channel: string, receiver: NoticeReceiver): Promise<NoticeTestResult> {
    const content = { id: `msg_${ids.resource()}`, at, items: [item] };
    const outcome = await deliver(receiver, content, { now: clock.now(), signal });
    const { status } = outcome;
    if (outcome.kind !== 'delivered') return { channel, delivered: false, status, problem: outcome.problem };
    // After a successful test, a receiver that had refused permanently gets messages again.
    await store.save(channel, { pause: null, problem: null, lastSuccessAt: clock.now() });
    return { channel, delivered: true, status, problem: null };
  }
}
