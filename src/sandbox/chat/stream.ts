// The lines of a chat answer: what opens it, what closes it, and what a reader of a stored thread gets (contract 6.3).
import { randomUUID } from 'node:crypto';
import type { MessageRecord } from './records.ts';
import { toLine } from './run.ts';

interface ThreadState {
  readonly chatId: string;
  readonly isStreaming: boolean;
  /** For a cutoff: what came before the records that follow it. */
  readonly messages: readonly MessageRecord[];
}

/** The opening record; `sort` is that of the last record before those that follow. */
export function cutoffLine(state: ThreadState, sort: number): string {
  return toLine({ id: '__cutoff__', isDelta: false, isInProcess: false, sort, state });
}

/** The closing record. */
export function stateLine(state: ThreadState, sort: number): string {
  return toLine({ id: '__state__', isDelta: false, isInProcess: false, sort, state });
}

/** A failure inside a stream (contract 6.3). */
export function errorLine(message: string): string {
  return toLine({ error: message });
}

/** A stored thread: cutoff, messages, state; nothing is waited for. */
export function storedLines(state: ThreadState, lastSort: number): string[] {
  const { messages } = state;
  return [
    cutoffLine({ ...state, messages: [] }, Math.max(0, (messages[0]?.sort ?? 1) - 1)),
    ...messages.map(toLine),
    stateLine(state, lastSort + 1),
  ];
}

/** The opening line, then the lines of the run as they come. */
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

/** The opening line and an error line: what a client sees when a fault strikes after the run has begun. */
export function brokenAfter(first: string, message: string): string[] {
  return [first, errorLine(message)];
}

/** An id for a user message whose client gave none, in the form of the others. */
export function freshMessageId(nowMs: number): string {
  return `${nowMs}-${randomUUID().slice(0, 8)}-message`;
}
