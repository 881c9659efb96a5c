// Answers a receiver that polls for events (RFC 8936 §2): acknowledged and refused events are removed, the next ones are returned.
import { setMaxListeners } from 'node:events';
import type { Clock } from '../support/sources.ts';
import type { Turns } from '../support/limits.ts';
import type { EventToken, Feed } from './feed.ts';

interface PollRequest {
  /** Largest number of returned events; 0: the request only acknowledges events. */
  maxEvents: number;
  /** False: the request waits until there is an event. */
  returnImmediately: boolean;
  /** `jti` values of the tokens that the receiver accepted. */
  ack: string[];
  /** Tokens that the receiver refused, from `setErrs` of the request. */
  refused: { jti: string; err: string; description: string }[];
}

interface PollAnswer {
  /** Signed tokens by `jti`. */
  sets: Record<string, string>;
  moreAvailable: boolean;
}

/** Number of events for a request without `maxEvents`; RFC 8936 §2.2 sets no default. */
const USUAL_EVENTS = 100;
/** Largest `maxEvents` that is served. */
const MOST_EVENTS = 500;
/** Largest number of acknowledged and refused ids in one request. */
const MOST_SETTLED = 10_000;
/** Largest number of stored characters of an error text from the receiver. */
const MOST_TEXT = 500;
/** Longest wait of a request for events, below the usual time-outs of proxies. */
const WAIT_MS = 20_000;
/** Interval at which a waiting request looks for events. */
const POLL_MS = 250;
/** Largest number of waiting requests for one connection in one process; a receiver needs one. */
const MOST_WAITING = 10;

/** Parses the body of a poll. @returns the request, or a sentence that describes its fault */
export function parsePollRequest(body: unknown): PollRequest | string {
  // All keys and the body itself are optional (RFC 8936 §2.2).
  const given = (body ?? {}) as Record<string, unknown>;
  if (!isObject(given)) return 'The body must be a JSON object.';
  const { maxEvents = USUAL_EVENTS, returnImmediately = false, ack = [], setErrs = {} } = given;
  if (typeof maxEvents !== 'number' || !Number.isSafeInteger(maxEvents) || maxEvents < 0)
    return 'maxEvents must be a whole number from 0.';
  if (typeof returnImmediately !== 'boolean') return 'returnImmediately must be true or false.';
  if (!Array.isArray(ack) || !ack.every((each) => typeof each === 'string'))
    return 'ack must be a list of jti values.';
  if (!isObject(setErrs)) return 'setErrs must be an object by jti.';
  const refusals = Object.entries(setErrs);
  if (ack.length + refusals.length > MOST_SETTLED)
    return `ack and setErrs may have at most ${MOST_SETTLED} events together.`;
  const refused = [];
  for (const [jti, reason] of refusals) {
    if (!isObject(reason) || typeof reason.err !== 'string') return 'Each entry of setErrs must have err.';
    const description = typeof reason.description === 'string' ? reason.description : '';
    refused.push({ jti, err: reason.err.slice(0, MOST_TEXT), description: description.slice(0, MOST_TEXT) });
  }
  return { maxEvents: Math.min(maxEvents, MOST_EVENTS), returnImmediately, ack, refused };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Answers one poll. `left` aborts when the receiver disconnects. */
export type Poll = (request: PollRequest, left: AbortSignal) => Promise<PollAnswer>;

/**
 * Creates the function that answers polls.
 * @param deps.turns limits concurrent reading and signing, which takes processor time
 * @param stopping ends all waiting requests
 */
export function createPoll(
  { clock, turns }: { clock: Clock; turns: Turns },
  feed: Feed,
  stopping: AbortSignal,
): Poll {
  let waiting = 0;
  // Each waiting request adds a listener. 0: Node.js does not warn of a leak, whatever their number.
  setMaxListeners(0, stopping);

  async function look(maxEvents: number, left: AbortSignal): Promise<PollAnswer> {
    // One event more than requested shows whether there are more.
    const found = await turns.run(() => feed.next(maxEvents + 1), left);
    return answerOf(found.slice(0, maxEvents), found.length > maxEvents);
  }

  /** Returns events as soon as there are any; an empty answer at the end of the wait. */
  async function wait(maxEvents: number, left: AbortSignal): Promise<PollAnswer> {
    const over = AbortSignal.any([stopping, left]);
    const endsAt = clock.now() + WAIT_MS;
    for (;;) {
      await clock.sleep(POLL_MS, over);
      const answer = await look(maxEvents, left);
      if (Object.keys(answer.sets).length > 0 || over.aborted || clock.now() >= endsAt) return answer;
    }
  }

  return async ({ maxEvents, returnImmediately, ack, refused }, left) => {
    if (ack.length + refused.length > 0) await feed.acknowledge(ack, refused);
    const answer = await look(maxEvents, left);
    const mayWait = !returnImmediately && maxEvents > 0 && !stopping.aborted && waiting < MOST_WAITING;
    if (!mayWait || Object.keys(answer.sets).length > 0) return answer;
    waiting += 1;
    try {
      return await wait(maxEvents, left);
    } finally {
      waiting -= 1;
    }
  };
}

const answerOf = (tokens: EventToken[], moreAvailable: boolean): PollAnswer => ({
  sets: Object.fromEntries(tokens.map(({ jti, text }) => [jti, text])),
  moreAvailable,
});
