// Formats the lines of a chat answer: opening, closing, errors, and the lines of a stored thread (contract 6.3). `sort` numbers the
// records of a thread in their order.
import { randomInt } from 'node:crypto';
import type { MessageRecord } from './records.ts';
import { toLine } from './run.ts';

/** The property `state` of the opening and the closing record. */
interface RecordState {
  readonly chatId: string;
  readonly isStreaming: boolean;
  /**
   * In the opening record (`__cutoff__`): the messages that do not follow as lines of their own. In the closing record
   * (`__state__`): all messages, but none for a user who lost access.
   */
  readonly messages: readonly MessageRecord[];
}

/** Returns the opening record; `sort` is that of the last record which does not follow as a line. */
export function cutoffLine(state: RecordState, sort: number): string {
  return toLine({ id: '__cutoff__', isDelta: false, isInProcess: false, sort, state });
}

/** Returns the closing record. */
export function stateLine(state: RecordState, sort: number): string {
  return toLine({ id: '__state__', isDelta: false, isInProcess: false, sort, state });
}

/** Returns the line for a failure inside a stream (contract 6.3). */
export function errorLine(message: string): string {
  return toLine({ error: message });
}

/** Returns the lines of a stored thread: cutoff, messages, state. */
export function storedLines(state: RecordState, lastSort: number): string[] {
  const { messages } = state;
  // Without messages the cutoff is at 0, as before a first message with the sort 1.
  return [
    cutoffLine({ ...state, messages: [] }, Math.max(0, (messages[0]?.sort ?? 1) - 1)),
    ...messages.map(toLine),
    stateLine(state, lastSort + 1),
  ];
}

/**
 * Yields the opening line, then the lines of the run. It is not an async generator, because `return` must reach `rest` (Run.follow)
 * also before the first `next` and while a line is awaited.
 */
export function openingWith(first: string, rest: AsyncIterable<string>): AsyncIterable<string> {
  return {
    [Symbol.asyncIterator]() {
      const following = rest[Symbol.asyncIterator]();
      let isOpened = false;
      return {
        async next() {
          if (isOpened) return following.next();
          isOpened = true;
          return { done: false, value: first };
        },
        async return() {
          await following.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** Returns the opening line and an error line, for a fault after the run has begun. */
export function brokenAfter(first: string, message: string): string[] {
  return [first, errorLine(message)];
}

/** Returns an id for a user message without a `messageId`, in the form of CHAT_MESSAGE_ID: the time, then six random digits. */
export function freshMessageId(nowMs: number): string {
  return `${nowMs}${randomInt(1e5, 1e6)}-message`;
}
