// Starts the channels of notices (messages to chats and webhooks about conditions that need a person: docs/notices.md), and
// builds the operators' operations on them.
import type { Breaker } from '../directory/outbox/breaker.ts';
import type { Actor } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { createNoticeStore } from '../directory/notice-store.ts';
import { startNoticeChannel } from '../notices/channel.ts';
import { readNoticeFacts } from '../notices/facts.ts';
import { noticeFindings } from '../notices/findings.ts';
import { testNotices } from '../notices/test-message.ts';
import { randomIds, systemClock } from '../support/sources.ts';
import type { Parts, Store } from './parts.ts';

/** Starts the delivery of notices to every channel in the settings. @param breakers by target */
export function startNotices(
  parts: Parts,
  states: readonly DesiredState[],
  breakers: ReadonlyMap<string, Pick<Breaker, 'read'>>,
): void {
  const { clock, config, instruments, releasers } = parts;
  // With a channel, pageUrl is set (notice-checks.ts).
  const { channels, pageUrl } = config.notices;
  const tokensOf = (connection: string) => config.connections[connection]?.tokens ?? [];
  const read = () => readNoticeFacts({ states, breakers, tokensOf, clock });
  const store = createNoticeStore(parts, config.redis);
  for (const [name, settings] of Object.entries(channels)) {
    const channel = startNoticeChannel(
      { ...parts, store, read, onAttempt: (result) => instruments?.onNotice(name, result) },
      { name, settings, pageUrl: pageUrl ?? '' },
    );
    releasers.add(`notices to ${name}`, channel.stop);
  }
}

/** Returns the operations of operators on the channels of the settings. */
export function buildNoticeOperations(store: Store, states: readonly DesiredState[]) {
  const { channels, pageUrl } = store.config.notices;
  const channelNames = Object.keys(channels);
  const noticeStore = createNoticeStore(store, store.config.redis);
  const deps = { clock: systemClock, ids: randomIds, store: noticeStore, states, channels, pageUrl };
  return {
    channels: channelNames,
    /** Returns how the last delivery to each channel ended, as findings of doctor. */
    findings: () => noticeFindings(noticeStore, channels, systemClock.now()),
    /** Sends a sample message to these channels. */
    test: (names: readonly string[], actor: Actor, signal: AbortSignal) =>
      testNotices(deps, names, actor, signal),
  };
}
