// Builds the chat parts of `GET /state`: threads with their runs, external users (docs/sandbox.md).
import type { SandboxJsonObject } from '../json.ts';
import type { CurrentState } from '../state.ts';
import { removeExpired } from './external-users.ts';
import type { RunNote, ThreadRecord } from './records.ts';
import { messagesOf } from './threads.ts';
import { isoTime } from '../../support/sources.ts';

function showOwner({ state }: CurrentState, owner: string): SandboxJsonObject {
  const [, kind, id = ''] = /^(internal|external):(.*)$/s.exec(owner) ?? [];
  if (kind === 'external') return { externalId: id, internalId: null };
  return { externalId: null, internalId: state.users.get(Number(id))?.userName ?? null };
}

/** Returns a run. After a crash its stored outcome is still `streaming`; if no run is active, `ended` is shown. */
function showRun({ startedAtMs, ...run }: RunNote, isRunning: boolean): SandboxJsonObject {
  const outcome = run.outcome === 'streaming' && !isRunning ? 'ended' : run.outcome;
  return { ...run, outcome, startedAt: isoTime(startedAtMs) };
}

function showThread(current: CurrentState, thread: ThreadRecord): SandboxJsonObject {
  const run = current.state.runs.get(thread.chatId);
  return {
    chatId: thread.chatId,
    deploymentId: thread.deploymentId,
    ...showOwner(current, thread.owner),
    isStreaming: run !== undefined,
    readers: run?.readers() ?? 0,
    messages: messagesOf(current.state, thread),
    runs: thread.runs.map((note) => showRun(note, run !== undefined)),
    createdAt: isoTime(thread.createdAtMs),
    updatedAt: isoTime(thread.updatedAtMs),
  };
}

export function showThreads(current: CurrentState): SandboxJsonObject[] {
  removeExpired(current);
  return current.state.threads.rows().map((thread) => showThread(current, thread));
}

export function showExternalUsers(current: CurrentState): SandboxJsonObject[] {
  removeExpired(current);
  return current.state.externalUsers.rows().map(({ expiresAtMs, createdAtMs, lastSeenAtMs, ...shown }) => {
    const expiresAt = expiresAtMs === null ? null : isoTime(expiresAtMs);
    return { ...shown, expiresAt, createdAt: isoTime(createdAtMs), lastSeenAt: isoTime(lastSeenAtMs) };
  });
}
