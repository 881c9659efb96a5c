// Implements threads as a state machine: a pure decision for each request, and the changes of a thread (contract 6.4).
import { randomUUID } from 'node:crypto';
import { CHAT_MESSAGES_KEPT, CHAT_THREADS_KEPT } from '../settings.ts';
import type { State } from '../state.ts';
import type { MessageRecord, QueryNote, RunNote, RunOutcome, ThreadRecord } from './records.ts';
import { openingKey } from './tables.ts';

/** `answered`: message ids of earlier runs. `messageId`: of the active run; null = none sent. */
export type ThreadState =
  | { readonly kind: 'idle'; readonly answered: ReadonlySet<string> }
  | { readonly kind: 'streaming'; readonly messageId: string | null };

/** The part of a request that decides how it is answered. */
export interface Ask {
  readonly input: string | null;
  readonly messageId: string | null;
}

/**
 * How a request is answered. With the stored messages: `read` (it has no `input`) or `replay` (its `messageId` was answered
 * before). `start`: with a new run. `attach`: with the running answer to the same `messageId`. `busy`: with a refusal.
 */
export type ThreadDecision = 'read' | 'start' | 'attach' | 'replay' | 'busy';

/** Decides how to answer a request, as the table of contract 6.4 says. Changes nothing. */
export function decide(state: ThreadState, ask: Ask): ThreadDecision {
  if (state.kind === 'streaming') {
    if (ask.messageId !== null && ask.messageId === state.messageId) return 'attach';
    return ask.input === null ? 'read' : 'busy';
  }
  if (ask.input === null) return 'read';
  return ask.messageId !== null && state.answered.has(ask.messageId) ? 'replay' : 'start';
}

/** Returns `streaming` while a run of the thread is active, else `idle`. */
export function threadStateOf(state: State, thread: ThreadRecord): ThreadState {
  const run = state.runs.get(thread.chatId);
  if (run) return { kind: 'streaming', messageId: run.messageId };
  return { kind: 'idle', answered: new Set(thread.runs.flatMap(({ messageId }) => messageId ?? [])) };
}

/** Returns a deployment's thread by its id, for any owner. */
export function threadOf(state: State, deploymentId: string, chatId: string): ThreadRecord | undefined {
  const [thread] = state.threads.find('chatId', chatId);
  return thread?.deploymentId === deploymentId ? thread : undefined;
}

/**
 * Returns the thread that this owner opened with this message, so that a repeated request does not open a
 * second one.
 */
export function openedBy(
  state: State,
  deploymentId: string,
  owner: string,
  messageId: string,
): ThreadRecord | undefined {
  return state.threads.find('opening', openingKey(deploymentId, owner, messageId))[0];
}

/** Returns the finished messages and, while an answer runs, its content so far. */
export function messagesOf(state: State, thread: ThreadRecord): readonly MessageRecord[] {
  const run = state.runs.get(thread.chatId);
  return run ? [...thread.messages, ...run.messages()] : thread.messages;
}

/** Removes the oldest idle threads above the limit, so that memory stays bounded. */
function removeOldest(state: State): void {
  const threads = state.threads.rows();
  // Nothing is removed before the limit is exceeded by 10 %, so that most new threads need no removal.
  if (threads.length < CHAT_THREADS_KEPT * 1.1) return;
  for (const { id, chatId } of threads.slice(0, threads.length - CHAT_THREADS_KEPT))
    if (!state.runs.get(chatId)) state.threads.remove(id);
}

export function openThread(
  state: State,
  nowMs: number,
  opener: Pick<ThreadRecord, 'deploymentId' | 'owner' | 'keyName'>,
): ThreadRecord {
  removeOldest(state);
  const thread: ThreadRecord = {
    ...opener,
    id: state.threads.nextId(),
    chatId: randomUUID(),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    lastSort: 0,
    messages: [],
    runs: [],
  };
  state.threads.put(thread);
  return thread;
}

function changeLastRun(runs: readonly RunNote[], change: Partial<RunNote>): RunNote[] {
  const last = runs.at(-1);
  return last ? [...runs.slice(0, -1), { ...last, ...change }] : [];
}

export function noteStart(state: State, thread: ThreadRecord, run: RunNote): void {
  state.threads.put({ ...thread, updatedAtMs: run.startedAtMs, runs: [...thread.runs, run] });
}

export function noteQuery(state: State, threadId: number, query: QueryNote): void {
  const thread = state.threads.get(threadId);
  const run = thread?.runs.at(-1);
  if (!thread || !run) return;
  state.threads.put({ ...thread, runs: changeLastRun(thread.runs, { queries: [...run.queries, query] }) });
}

/** Records the end of a run; returns the current thread, or undefined when it was removed in the meantime. */
export function noteEnd(
  state: State,
  threadId: number,
  end: {
    nowMs: number;
    outcome: RunOutcome;
    messages: readonly MessageRecord[];
    lastSort: number;
  },
): ThreadRecord | undefined {
  const thread = state.threads.get(threadId);
  if (!thread) return undefined;
  const ended: ThreadRecord = {
    ...thread,
    updatedAtMs: end.nowMs,
    lastSort: end.lastSort,
    messages: [...thread.messages, ...end.messages].slice(-CHAT_MESSAGES_KEPT),
    runs: changeLastRun(thread.runs, { outcome: end.outcome }),
  };
  state.threads.put(ended);
  return ended;
}

/** Removes all threads of an owner and stops their runs. */
export function removeThreadsOf(state: State, owner: string): void {
  for (const thread of state.threads.find('owner', owner)) {
    state.threads.remove(thread.id);
    state.runs.stop(thread.chatId, 'left');
  }
}

/** Owner name of the threads of an internal user. */
export const ownerOfUser = (userId: number): string => `internal:${userId}`;
export const ownerOfExternal = (externalId: string): string => `external:${externalId}`;
