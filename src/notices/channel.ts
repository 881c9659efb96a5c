// Tells one receiver which conditions began or ended. A condition is what an operator has to act on, such as held changes.
// Only the process with the lease of the channel sends; the others check periodically whether the lease is free. A message is
// stored from before its first attempt until it is accepted, so a killed process loses none. Each round sends the stored message,
// or composes the next one from the difference between the conditions that the receiver was told and the present ones.
import type {
  NoticeChannelState,
  NoticeMessage,
  NoticeStore,
  NoticeSubject,
} from '../directory/notice-store.ts';
import { failureReason } from '../directory/redis/why-away.ts';
import { backoffMs } from '../support/backoff.ts';
import { loggedRound, startRounds } from '../support/rounds.ts';
import type { Logger } from '../support/logger.ts';
import type { Clock, Ids } from '../support/sources.ts';
import { conditionsOf, placesOf } from './conditions.ts';
import { deliver, digestOfAddress, type NoticeOutcome, type NoticeReceiver } from './deliver.ts';
import { afterTelling, changesBetween, createNoticeGrouping, tendTold } from './difference.ts';
import type { NoticeFacts } from './facts.ts';
import { toNoticeItem } from './summary.ts';

interface NoticeChannelSettings extends NoticeReceiver {
  /** Subjects of the conditions that are reported to the receiver. */
  about: readonly NoticeSubject[];
  /** Grouping time, milliseconds: a message is sent when one of its changes has lasted for this time. */
  groupMs: number;
}

interface NoticeChannelDeps {
  clock: Clock;
  logger: Logger;
  ids: Ids;
  random: () => number;
  store: NoticeStore;
  read: () => Promise<NoticeFacts>;
  /** Called after each attempt. */
  onAttempt: (result: NoticeOutcome['kind']) => void;
}

/** Duration of the lease of the channel, longer than one attempt. Another process takes over if the lease is not renewed. */
const LEASE_MS = 20_000;
/** Wait of a process without the lease. */
const STANDBY_MS = 2000;
/** Interval at which conditions are read; shorter for a channel with a shorter grouping time. */
const CHECK_MS = 10_000;
const MIN_CHECK_MS = 1000;
/** Waits after failed attempts (support/backoff.ts). */
const BACKOFF = { baseMs: 5000, maxMs: 600_000 };
/** Longest wait that a receiver can request by Retry-After. Also the pause after its refusals. */
const LONGEST_WAIT_MS = 3_600_000;
/** Number of the attempt from which on a refusal drops the message. */
const DROPPING_ATTEMPT = 3;

/** Starts the channel. @param settings read at each use, because secrets may be rotated @param pageUrl base address of links */
export function startNoticeChannel(
  deps: NoticeChannelDeps,
  { name, settings, pageUrl }: { name: string; settings: NoticeChannelSettings; pageUrl: string },
) {
  const { clock, store } = deps;
  const logger = deps.logger.child({ channel: name });
  const holder = deps.ids.request();
  const lease = store.leaseOf(name);
  const grouping = createNoticeGrouping(() => settings.groupMs);
  const checkMs = (): number => Math.max(MIN_CHECK_MS, Math.min(CHECK_MS, settings.groupMs));
  let isFailing = false;

  /** Sends the stored message if it is due, or composes the next one. @returns the wait before the next round, milliseconds */
  async function round(signal: AbortSignal): Promise<number> {
    if (!(await lease.lead(holder, LEASE_MS))) return STANDBY_MS;
    const state = await store.read(name);
    if (state.message) {
      // `problem` is null if no attempt failed, or the receiver accepted an operator's test message since. The message is due then.
      const waitMs = state.problem === null ? 0 : leftUntil(state.message.nextAt);
      return waitMs > 0 ? Math.min(waitMs, checkMs()) : send(state.message, signal);
    }
    if (isPaused(state)) return checkMs();
    const message = await compose(state);
    return message ? send(message, signal) : checkMs();
  }

  /** Returns whether the receiver refused a message at its present address, and the pause after this refusal has not ended. */
  function isPaused({ pause }: NoticeChannelState): boolean {
    if (pause === null || pause.address !== digestOfAddress(settings.url)) return false;
    // null: the receiver is gone from this address for good.
    return pause.until === null || leftUntil(pause.until) > 0;
  }

  /**
   * Returns the milliseconds until a stored time. A stored time is at most one hour away. If it is further away, the clock
   * was set back, and the wait is over.
   */
  function leftUntil(moment: number): number {
    const left = moment - clock.now();
    return left > LONGEST_WAIT_MS ? 0 : left;
  }

  /**
   * Composes and stores the next message. `state.told`: the conditions that the receiver was told.
   * @returns undefined when nothing changed, or no change has lasted for the grouping time
   */
  async function compose(state: NoticeChannelState): Promise<NoticeMessage | undefined> {
    const facts = await deps.read();
    const { about } = settings;
    const present = conditionsOf(facts).filter((each) => about.includes(each.about));
    const told = tendTold(state.told, present, { about, places: placesOf(facts) });
    if (told !== state.told) await store.save(name, { told });
    const changes = grouping.ripe(changesBetween(told, present, facts.now), facts.now);
    if (changes.length === 0) return undefined;
    // nextAt 0: the first attempt is due at once.
    const message = { id: `msg_${deps.ids.resource()}`, at: facts.now, changes, attempts: 0, nextAt: 0 };
    await store.save(name, { message });
    return message;
  }

  /** Makes one attempt to send a message. @returns the wait before the next round, milliseconds */
  async function send(message: NoticeMessage, signal: AbortSignal): Promise<number> {
    const { id, at, changes } = message;
    const content = { id, at, items: changes.map((change) => toNoticeItem(change, pageUrl)) };
    const outcome = await deliver(settings, content, { now: clock.now(), signal });
    // This process stopped during the attempt. The next process sends the message again with the same id.
    if (signal.aborted && outcome.kind === 'later') return 0;
    deps.onAttempt(outcome.kind);
    if (outcome.kind !== 'delivered') return fail(message, outcome);
    if (isFailing) logger.info({ message: id }, 'notices are delivered again');
    isFailing = false;
    const { told } = await store.read(name);
    await store.save(name, {
      told: afterTelling(told, message),
      message: null,
      pause: null,
      lastSuccessAt: clock.now(),
      problem: null,
    });
    return 0;
  }

  /**
   * Stores a failed attempt. Drops the message when the receiver is gone, or refuses it in attempt DROPPING_ATTEMPT or later.
   * @returns the wait before the next round, milliseconds
   */
  async function fail(
    message: NoticeMessage,
    outcome: Exclude<NoticeOutcome, { kind: 'delivered' }>,
  ): Promise<number> {
    const { problem } = outcome;
    const attempts = message.attempts + 1;
    const failure = { lastFailureAt: clock.now(), problem };
    if (!isFailing) logger.warn({ problem, message: message.id }, 'a notice cannot be delivered');
    isFailing = true;
    if (outcome.kind === 'refused' && (outcome.gone || attempts >= DROPPING_ATTEMPT)) {
      const until = outcome.gone ? null : clock.now() + LONGEST_WAIT_MS;
      const pause = { address: digestOfAddress(settings.url), until };
      await store.save(name, { ...failure, message: null, pause });
      return checkMs();
    }
    const requestedMs = outcome.kind === 'later' ? (outcome.retryAfterMs ?? 0) : 0;
    const waitMs = Math.max(
      Math.min(requestedMs, LONGEST_WAIT_MS),
      backoffMs(attempts, BACKOFF, deps.random),
    );
    await store.save(name, { ...failure, message: { ...message, attempts, nextAt: clock.now() + waitMs } });
    return Math.min(waitMs, checkMs());
  }

  const failure = {
    failedMs: STANDBY_MS,
    message: 'notices cannot be read: tried again',
    reasonOf: failureReason,
  };
  const stop = startRounds(clock, loggedRound(logger, round, failure));
  return {
    /** Stops, and aborts a running attempt. */
    stop: async (): Promise<void> => {
      await stop();
      await lease.resign(holder).catch(() => undefined);
    },
  };
}
