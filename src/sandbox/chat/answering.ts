// Runs the agent for a question: `startAnswer` starts a run and returns its lines; in the background `runAgent` forwards the
// records of the agent at the configured pace, and `finish` stores the messages and ends the run.
import { systemClock } from '../../support/sources.ts';
import { productionBranch } from '../control-plane/deployments.ts';
import { CHAT_LEFT, CHAT_TOOL_ROWS } from '../settings.ts';
import { currentStateOf, type SandboxRuntime } from '../runtime.ts';
import type { CurrentState, State } from '../state.ts';
import { unlessAborted } from '../stream.ts';
import { answerQuestion, type AgentTask, type Choose } from './agent.ts';
import type { ChatCaller } from './authentication.ts';
import type { ChatNames } from './names.ts';
import type { AgentScript, RunOutcome, ThreadRecord } from './records.ts';
import type { StreamBody } from './request-body.ts';
import { createRun, type Draft, type Run } from './run.ts';
import type { Stop } from './runs.ts';
import type { ChatSession } from './session.ts';
import { errorLine, freshMessageId, stateLine } from './stream.ts';
import { noteEnd, noteQuery, noteStart } from './threads.ts';
import type { AgentData, Rows } from './tools.ts';

/** Shared by all agents of a sandbox: the specified or the vendor's names, and the selection of members by words or a model. */
export interface ChatStyle {
  readonly names: ChatNames;
  readonly choose: Choose;
}

interface ChatQuestion {
  readonly caller: ChatCaller;
  readonly session: ChatSession;
  readonly thread: ThreadRecord;
  readonly body: StreamBody & { readonly input: string };
}

interface Job extends ChatQuestion {
  readonly runtime: SandboxRuntime;
  /** State at the start of the run; a reset stops the run and replaces the state. */
  readonly state: State;
  readonly run: Run;
  readonly script: AgentScript;
}

/**
 * Starts a run on an idle thread. Returns its lines; the first record repeats the question. The run continues when
 * nothing reads the lines.
 */
export function startAnswer(
  runtime: SandboxRuntime,
  style: ChatStyle,
  question: ChatQuestion,
): AsyncIterable<string> {
  const { thread, caller, session, body } = question;
  const { state } = runtime;
  const { agentId, deployment } = caller;
  const run = createRun({
    chatId: thread.chatId,
    messageId: body.messageId,
    userIds: session.userIds,
    lastSort: thread.lastSort,
  });
  const scripted = state.agents.find('agentId', agentId)[0];
  const job: Job = { ...question, runtime, state, run, script: scripted?.script ?? {} };
  noteStart(state, thread, {
    messageId: body.messageId,
    agentId,
    branchName: body.activeBranchName ?? productionBranch(deployment).name,
    isDefaultBranch: body.isDefaultBranch,
    startedAtMs: runtime.clock.now(),
    outcome: 'streaming',
    queries: [],
  });
  state.runs.add(run, (reason) => stop(job, reason));
  const task: AgentTask = {
    question: body.input,
    chatId: thread.chatId,
    data: createData(job),
    ...style,
    showsThinking: runtime.settings.chatDevelopmentMode,
    script: job.script,
  };
  const id = body.messageId ?? freshMessageId(runtime.clock.now());
  const echo: Draft = { id, role: 'user', content: body.input, isDelta: false, isInProcess: false };
  // `follow` yields only lines that are added after its call, so it is called before the echo of the question is added.
  const lines = run.follow();
  run.append(echo);
  void runAgent(job, task);
  return lines;
}

/** Runs the agent to its end; an error of the agent becomes the last line of the answer. */
async function runAgent(job: Job, task: AgentTask): Promise<void> {
  const records = answerQuestion(task);
  try {
    await forwardRecords(job, records);
  } catch (error) {
    finish(job, 'failed', { error: error instanceof Error ? error.message : String(error) });
  } finally {
    // Not awaited, because `return` waits for the agent's current step.
    records.return().catch(() => undefined);
  }
}

/** Forwards the agent's records one at a time with the configured pause, while the caller keeps access. */
async function forwardRecords(job: Job, records: AsyncGenerator<Draft, void>): Promise<void> {
  const { run, session, runtime } = job;
  for (;;) {
    const next = await unlessAborted(records.next(), run.signal);
    const pauseMs = job.script.recordDelayMs ?? runtime.settings.chatRecordDelayMs;
    if (next && !next.done && pauseMs > 0) await systemClock.sleep(pauseMs, run.signal);
    if (!next || run.signal.aborted) return;
    if (!session.hasAccess(currentOf(job))) return stop(job, 'left');
    if (next.done) return finish(job, 'completed');
    run.append(next.value);
  }
}

/** Ends the run in one step: stores the messages, then sends the last lines, with the failure if there is one. */
function finish(job: Job, outcome: RunOutcome, failure?: { error: string; hidesMessages?: boolean }): void {
  const { run, state, thread } = job;
  if (run.signal.aborted) return;
  // A message that is not finished keeps the text so far; a tool call without a result is dropped.
  const messagesOfRun = run
    .messages()
    .filter(({ toolCall }) => !toolCall || toolCall.result !== undefined)
    .map((message) => ({ ...message, isDelta: false, isInProcess: false }));
  // The `sort` of the closing line.
  const lastSort = run.lastSort() + 1;
  const ended = noteEnd(state, thread.id, {
    nowMs: job.runtime.clock.now(),
    outcome,
    messages: messagesOfRun,
    lastSort,
  });
  state.runs.remove(run);
  const messages = failure?.hidesMessages ? [] : (ended?.messages ?? []);
  run.close([
    ...(failure ? [errorLine(failure.error)] : []),
    stateLine({ chatId: thread.chatId, isStreaming: false, messages }, lastSort),
  ]);
}

function stop(job: Job, reason: Stop): void {
  if (reason === 'aborted') finish(job, 'aborted');
  else if (reason === 'shutdown') finish(job, 'ended', { error: 'The platform is going down' });
  // A user who lost access gets no messages, not even the earlier ones.
  else finish(job, 'ended', { error: CHAT_LEFT, hidesMessages: true });
}

/** Runs queries with the rights that the caller has when the query starts, and records every query. */
function createData(job: Job): AgentData {
  const { runtime, caller, session, body, run } = job;
  const { deployment } = caller;
  const branchName = body.activeBranchName;
  async function collect(sqlQuery: string): Promise<Rows> {
    const context = await session.context(currentOf(job));
    // `noteQuery` adds to the last run of the thread, which may be a newer one after the end of this run.
    if (run.signal.aborted) throw new Error('The run is over');
    noteQuery(job.state, job.thread.id, {
      sqlQuery,
      branchName: branchName ?? productionBranch(deployment).name,
      tokenFingerprint: session.tokenFingerprint,
      securityContext: context,
    });
    let schema: Rows['schema'] = [];
    const data: Rows['data'][number][] = [];
    let totalRows = 0;
    for await (const part of runtime.coreData.sql(deployment, branchName, context, {
      query: sqlQuery,
      signal: run.signal,
    })) {
      if (run.signal.aborted) break;
      if (part.kind === 'schema') schema = part.columns;
      else {
        totalRows += part.rows.length;
        if (data.length < CHAT_TOOL_ROWS) data.push(...part.rows.slice(0, CHAT_TOOL_ROWS - data.length));
      }
    }
    return { schema, data, totalRows };
  }
  return {
    meta: async () => runtime.coreData.meta(deployment, await session.context(currentOf(job))).cubes,
    run: collect,
  };
}

/** Returns the state that the run began with (a reset replaces the runtime's), the present settings and the present time. */
const currentOf = (job: Job): CurrentState => ({ ...currentStateOf(job.runtime), state: job.state });
