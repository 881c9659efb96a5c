// Threads as a state machine: what a request does to a thread (pure), and the few ways a thread changes (contract 6.4).
import { randomUUID } from 'node:crypto';
import { CHAT_MESSAGES_KEPT, CHAT_THREADS_KEPT } from '../settings.ts';
import type { State } from '../state.ts';
import type { MessageRecord, QueryNote, RunNote, RunOutcome, ThreadRecord } from './records.ts';
import { openingKey } from './tables.ts';

/** Where a thread is. `messageId` is that of the running answer, null when the client gave none. */
export type Standing =
  | { readonly kind: 'idle'; readonly answered: ReadonlySet<string> }
  | { readonly kind: 'streaming'; readonly messageId: string | null };

export interface Ask {
  readonly input: string | null;
  readonly messageId: string | null;
}

/** read and replay: the stored state, no run; start: a new run; attach: the running one; busy: refused. */
export type Decision = 'read' | 'start' | 'attach' | 'replay' | 'busy';

/** The table of contract 6.4; changes nothing. */
export function decide(standing: Standing, ask: Ask): Decision {
  if (standing.kind === 'streaming') {
    if (ask.messageId !== null && ask.messageId === standing.messageId) return 'attach';
    return ask.input === null ? 'read' : 'busy';
  }
  if (ask.input === null) return 'read';
  return ask.messageId !== null && standing.answered.has(ask.messageId) ? 'replay' : 'start';
}

export function standingOf(state: State, thread: ThreadRecord): Standing {
  const run = state.runs.get(thread.chatId);
  if (run) return { kind: 'streaming', messageId: run.messageId };
  return { kind: 'idle', answered: new Set(thread.runs.flatMap(({ messageId }) => messageId ?? [])) };
}

/** The thread of that id in a deployment, whoever owns it. */
export function threadOf(state: State, deploymentId: string, chatId: string): ThreadRecord | undefined {
  const [thread] = state.threads.find('chatId', chatId);
  return thread?.deploymentId === deploymentId ? thread : undefined;
}

/** The thread that this owner opened with this message, if any: repeating it must not open a second one. */
export function openedBy(
  state: State,
  deploymentId: string,
  owner: string,
  messageId: string,
): ThreadRecord | undefined {
  return state.threads.find('opening', openingKey(deploymentId, owner, messageId))[0];
}

/** Messages for a reader: the finished ones and, while an answer runs, what there is of it. */
export function messagesOf(state: State, thread: ThreadRecord): readonly MessageRecord[] {
  const run = state.runs.get(thread.chatId);
  return run ? [...thread.messages, ...run.messages()] : thread.messages;
}

/** The oldest idle threads go when there are too many: a sandbox under load must not fill the memory. */
function forgetOldest(state: State): void {
  const ids = state.threads.ids();
  if (ids.length < CHAT_THREADS_KEPT * 1.1) return;
  for (const id of ids.slice(0, ids.length - CHAT_THREADS_KEPT)) {
    const thread = state.threads.get(id);
    if (thread && !state.runs.get(thread.chatId)) state.threads.remove(id);
  }
}

/** An empty thread, stored. */
export function openThread(
  state: State,
  nowMs: number,
  of: Pick<ThreadRecord, 'deploymentId' | 'owner' | 'keyName'>,
): ThreadRecord {
  forgetOldest(state);
  const thread: ThreadRecord = {
    ...of,
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

function changeRun(runs: readonly RunNote[], change: Partial<RunNote>): RunNote[] {
  return runs.map((run, place) => (place === runs.length - 1 ? { ...run, ...change } : run));
}

/** Idle → streaming, as the thread's own note of it. */
export function noteStart(state: State, thread: ThreadRecord, run: RunNote): void {
  state.threads.put({ ...thread, updatedAtMs: run.startedAtMs, runs: [...thread.runs, run] });
}

/** A query of the run under way. */
export function noteQuery(state: State, threadId: number, query: QueryNote): void {
  const thread = state.threads.get(threadId);
  const run = thread?.runs.at(-1);
  if (!thread || !run) return;
  state.threads.put({ ...thread, runs: changeRun(thread.runs, { queries: [...run.queries, query] }) });
}

/** Streaming → idle; answers the thread as it is now, or undefined when it was removed meanwhile. */
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
    runs: changeRun(thread.runs, { outcome: end.outcome }),
  };
  state.threads.put(ended);
  return ended;
}

/** Removes all threads of an owner and stops what runs in them. */
export function removeThreadsOf(state: State, owner: string): void {
  for (const thread of state.threads.find('owner', owner)) {
    state.threads.remove(thread.id);
    state.runs.stop(thread.chatId, 'left');
  }
}

/** The name under which the threads of a person are kept. */
export const ownerOfUser = (userId: number): string => `internal:${userId}`;
export const ownerOfExternal = (externalId: string): string => `external:${externalId}`;
