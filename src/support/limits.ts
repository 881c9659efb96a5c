// Limits the load of a process: work at once (`createTurns`), bytes held at once (`createByteBudget`), calls per second
// (`createBucket`), structure of JSON text (`scanJson`), and bytes of one body (`readAtMost`).

/** Thrown when the queue is full, or the work was not admitted in time. The work was not started, so the caller may retry. */
export class Busy extends Error {
  override name = 'Busy';
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('too much work at once');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

interface TurnLimits {
  /** Largest number of turns that are taken at the same time; one owner may take half of them. */
  atOnce: number;
  /** Longest queue of one owner. */
  queue: number;
  /** Longest wait in the queue, milliseconds. */
  waitMs: number;
}

/** Admits the work of one owner: each piece of work waits for a turn, and gives the turn back at its end. */
export interface Turns {
  /** Waits for a turn. @returns a function that gives the turn back @throws Busy; the reason of `signal` */
  enter(signal?: AbortSignal): Promise<() => void>;
  /** Runs `work` once it is admitted. @throws as `enter` */
  run<T>(work: () => Promise<T> | T, signal?: AbortSignal): Promise<T>;
}

/** How many pieces of work of one owner have a turn, and how many wait for a turn. */
interface Owner {
  running: number;
  waiting: number;
}

interface Waiter {
  owner: Owner;
  start(): void;
}

/** Seconds after which work that was refused as `Busy` may be tried again. */
const RETRY_AFTER_SECONDS = 2;

/**
 * Limits concurrent work of several owners. Work starts when it gets a turn.
 * @returns a function that creates the turns of one owner, such as a connection
 */
export function createTurns({ atOnce, queue, waitMs }: TurnLimits): () => Turns {
  const mostEach = Math.max(1, Math.floor(atOnce / 2));
  const waiters: Waiter[] = [];
  let running = 0;

  const isFree = (owner: Owner): boolean => running < atOnce && owner.running < mostEach;

  function begin(owner: Owner): void {
    running++;
    owner.running++;
  }

  /** Gives a turn back, and starts the first waiter whose owner may take one more turn. */
  function end(owner: Owner): void {
    running--;
    owner.running--;
    const next = waiters.findIndex((waiter) => isFree(waiter.owner));
    if (next >= 0) waiters.splice(next, 1)[0]?.start();
  }

  /** Resolves when the owner has got a turn. @throws as `enter` */
  function wait(owner: Owner, signal: AbortSignal | undefined): Promise<void> {
    if (owner.waiting >= queue) throw new Busy(RETRY_AFTER_SECONDS);
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        owner.waiting--;
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const leave = (reason: Error): void => {
        settle();
        waiters.splice(waiters.indexOf(waiter), 1);
        reject(reason);
      };
      const onAbort = (): void => leave(signal?.reason as Error);
      const timer = setTimeout(() => leave(new Busy(RETRY_AFTER_SECONDS)), waitMs);
      const waiter: Waiter = {
        owner,
        start: () => {
          settle();
          begin(owner);
          resolve();
        },
      };
      owner.waiting++;
      waiters.push(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  return () => {
    const owner: Owner = { running: 0, waiting: 0 };
    async function enter(signal?: AbortSignal): Promise<() => void> {
      signal?.throwIfAborted();
      if (isFree(owner)) begin(owner);
      else await wait(owner, signal);
      let isHeld = true;
      return () => {
        if (isHeld) end(owner);
        isHeld = false;
      };
    }
    return {
      enter,
      async run(work, signal) {
        const release = await enter(signal);
        try {
          return await work();
        } finally {
          release();
        }
      },
    };
  };
}

export interface ByteShare {
  /** Returns whether `bytes` more fit into the budget. */
  fits(bytes: number): boolean;
  /** Counts `bytes` as used. @returns false when they do not fit; then nothing is counted */
  take(bytes: number): boolean;
  /** Counts `bytes` as free again. */
  give(bytes: number): void;
}

/** Creates a budget of `most` bytes. */
export function createByteBudget(most: number) {
  let used = 0;
  return {
    /** Returns the share of one owner: at most half of the budget, so that the other half stays free for other owners. */
    share(): ByteShare {
      let usedByShare = 0;
      const fits = (bytes: number): boolean => usedByShare + bytes <= most / 2 && used + bytes <= most;
      return {
        fits,
        take(bytes) {
          if (!fits(bytes)) return false;
          usedByShare += bytes;
          used += bytes;
          return true;
        },
        give(bytes) {
          usedByShare -= bytes;
          used -= bytes;
        },
      };
    },
  };
}

/** Token bucket: it fills at a constant rate up to its size. */
export interface Bucket {
  /**
   * Takes one token at the time `now` (Unix milliseconds).
   * @returns 0 when it was taken, otherwise the milliseconds until a token is available
   */
  take(now: number): number;
}

/** Creates a token bucket, which is full at the start. */
export function createBucket({ perSecond, burst }: { perSecond: number; burst: number }): Bucket {
  let left = burst;
  let filledAt = -Infinity;
  return {
    take(now) {
      // A clock that was set back neither adds nor removes tokens.
      const elapsedMs = Math.max(0, now - filledAt);
      left = Math.min(burst, left + (elapsedMs * perSecond) / 1000);
      filledAt = now;
      if (left >= 1) {
        left -= 1;
        return 0;
      }
      return Math.ceil(((1 - left) * 1000) / perSecond);
    },
  };
}

export interface JsonBounds {
  /** Largest nesting depth of objects and arrays. */
  maxDepth: number;
  /** Largest number of brackets, braces and commas. */
  maxStructure: number;
  /** Largest string in bytes; default: no limit. */
  maxText?: number;
}

/** Why a text must not be parsed. `reason` completes a sentence whose subject is the text, such as "The body …". */
interface JsonFault {
  kind: 'depth' | 'structure' | 'text';
  reason: string;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Scans JSON in UTF-8 once, without parsing it. @returns the first fault, or undefined */
export function scanJson(
  bytes: Uint8Array,
  { maxDepth, maxStructure, maxText = Infinity }: JsonBounds,
): JsonFault | undefined {
  const end = bytes.length;
  let depth = 0;
  let structure = 0;
  for (let at = 0; at < end; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const start = ++at;
      for (; at < end && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
      if (at - start > maxText) return { kind: 'text', reason: `holds a text of more than ${maxText} bytes` };
      continue;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (++depth > maxDepth) return { kind: 'depth', reason: `is nested deeper than ${maxDepth} levels` };
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
    else if (byte !== COMMA) continue;
    if (++structure > maxStructure)
      return { kind: 'structure', reason: `has more than ${maxStructure} brackets and commas` };
  }
  return undefined;
}

/** Returns the whole body, or the first `maxBytes` bytes of a longer one, whose connection is closed. */
export async function readAtMost(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop destroys the body and closes the connection.
    if (length > maxBytes) return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isWhole: false };
  }
  return { bytes: Buffer.concat(chunks), isWhole: true };
}

/** Reads the body of an answer of `fetch`, as readAtMost. */
export const readAnswerAtMost = ({ body }: Response, maxBytes: number) =>
  readAtMost((body ?? []) as AsyncIterable<Uint8Array>, maxBytes);
