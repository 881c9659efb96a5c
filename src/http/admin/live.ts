// Streams the status to open pages as server-sent events. The status is read once for all streams of this process, and only
// while a stream is open. An event every two seconds (keep-alive, named `beat`) shows a page that this process still runs.
import { settledWithin } from '../../support/within.ts';
import type { Clock } from '../../support/sources.ts';
import { Problem } from './problem.ts';
import type { AdminAnswer } from './route.ts';
import type { AdminCaller } from './sign-in/rights.ts';

/** Pause between two keep-alive events, and between two reads of the status. */
const LIVE_BEAT_MS = 2000;
/** Longest wait for the caller's right and the status in each round. Without them only the keep-alive event is sent. */
const WAIT_MS = 500;
/** Largest number of streams of one process. */
export const MOST_STREAMS = 20;
/** A stream ends after this time; the page then opens the next one, possibly at another process. */
const LIFE_MS = 5 * 60_000;
const RETRY_AFTER_SECONDS = 10;

/**
 * Creates the streams of this process.
 * @param read returns the status, which is sent as JSON
 * @param lifeMs time after which a stream ends; tests shorten it
 */
export function createLiveStreams(
  { clock }: { clock: Clock },
  read: () => Promise<unknown>,
  { lifeMs = LIFE_MS }: { lifeMs?: number } = {},
) {
  const streams = new Set<AbortController>();
  const status = createSharedRead(clock, read);
  let isStopped = false;

  /** Yields the events of one stream until it is ended or its caller may no longer call. */
  async function* eventsOf(
    ended: AbortController,
    isStillValid: () => Promise<boolean>,
  ): AsyncGenerator<string> {
    const { signal } = ended;
    let sent: string | undefined;
    try {
      while (!signal.aborted) {
        // Stays undefined when Redis does not answer in time; then only the keep-alive event is sent.
        let isValid: boolean | undefined;
        const validity = isStillValid().then((answer) => {
          isValid = answer;
        });
        await settledWithin(clock, Promise.allSettled([validity, status.read()]), WAIT_MS);
        if (isValid === false || signal.aborted) return;
        const { text, at } = status.latest();
        if (isValid && text !== undefined && text !== sent) {
          sent = text;
          yield `event: status\ndata: ${text}\n\n`;
        }
        const statusAgeMs = at === undefined ? null : Math.max(0, clock.now() - at);
        yield `event: beat\ndata: ${JSON.stringify({ statusAgeMs })}\n\n`;
        await clock.sleep(LIVE_BEAT_MS, signal);
      }
    } finally {
      ended.abort();
    }
  }

  /** Ends all streams, so that the operators' pages connect to another process. */
  const end = (): void => streams.forEach((each) => each.abort());
  return {
    /**
     * Opens a stream, which ends when the caller may no longer call.
     * @param disconnected aborted when the client disconnects
     * @throws Problem 503 when too many streams are open, and after `stop`
     */
    open: ({ isStillValid }: Pick<AdminCaller, 'isStillValid'>, disconnected: AbortSignal): AdminAnswer => {
      if (isStopped || streams.size >= MOST_STREAMS)
        throw new Problem(503, 'Too many pages are open at this process: close some, or try again.', {
          headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
        });
      const ended = new AbortController();
      streams.add(ended);
      ended.signal.addEventListener('abort', () => streams.delete(ended), { once: true });
      disconnected.addEventListener('abort', () => ended.abort(), { once: true });
      void clock.sleep(lifeMs, ended.signal).then(() => ended.abort());
      return {
        kind: 'pieces',
        contentType: 'text/event-stream',
        // Without this header nginx would buffer the stream.
        headers: { 'X-Accel-Buffering': 'no' },
        pieces: eventsOf(ended, isStillValid),
        until: ended.signal,
      };
    },
    end,
    /** Ends all streams and refuses new ones. */
    stop: (): void => {
      isStopped = true;
      end();
    },
  };
}

/** Creates a read of the status that all streams share: at most about one in each interval of LIVE_BEAT_MS, and one at a time. */
function createSharedRead(
  clock: Clock,
  read: () => Promise<unknown>,
): { read: () => Promise<void>; latest: () => { text?: string; at?: number } } {
  let latest: { text?: string; at?: number } = {};
  let reading: Promise<void> | undefined;
  let startedAt = -Infinity;
  return {
    read: () => {
      if (reading) return reading;
      // The factor is below 1, because the timer of a stream may fire a few milliseconds early.
      if (clock.now() - startedAt < LIVE_BEAT_MS * 0.75) return Promise.resolve();
      startedAt = clock.now();
      reading = read()
        .then((value) => {
          latest = { text: JSON.stringify(value), at: startedAt };
        })
        .finally(() => {
          reading = undefined;
        });
      return reading;
    },
    latest: () => latest,
  };
}
