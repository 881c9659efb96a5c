// Routes the two calls of chat: stream a conversation, abort a stream (contract 6.2 to 6.5).
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { bodyOrEmpty, injectedFaultOf, sendOrLose, type HandlerReply } from '../call.ts';
import type { MountedRouter } from '../family.ts';
import type { Loss } from '../faults.ts';
import { requireText, type SandboxJsonObject } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import { CHAT_BUSY } from '../settings.ts';
import type { CurrentState } from '../state.ts';
import { sendStream, type Lines } from '../stream.ts';
import { currentStateOf, type SandboxRuntime } from '../runtime.ts';
import { startAnswer, type ChatStyle } from './answering.ts';
import type { ChatCaller } from './authentication.ts';
import { removeExpired } from './external-users.ts';
import type { ThreadRecord } from './records.ts';
import { parseSession, parseStreamBody, type RequestedSession, type StreamBody } from './request-body.ts';
import { identifyAborter, openChatSession, type ChatSession } from './session.ts';
import { brokenAfter, cutoffLine, errorLine, openingWith, storedLines } from './stream.ts';
import { decide, messagesOf, openThread, openedBy, threadStateOf, threadOf } from './threads.ts';

interface ChatDeps {
  readonly runtime: SandboxRuntime;
  readonly style: ChatStyle;
  /** Returns the authenticated caller of a request. */
  readonly callerOf: (request: Request) => ChatCaller;
}

/** Returns the session settings of the body; null with a token, whose requests ignore `sessionSettings`. */
function settingsOf(caller: ChatCaller, body: SandboxJsonObject): RequestedSession | null {
  return caller.proof.kind === 'token' ? null : parseSession(body);
}

function requireBranch(caller: ChatCaller, branchName: string | null): void {
  if (branchName === null) return;
  if (!caller.deployment.branches.some(({ name }) => name === branchName))
    throw new SandboxProblem(400, 'activeBranchName is not a branch of the deployment');
}

/**
 * Returns the thread that `chatId` names, or that an earlier request with the same `messageId` opened; undefined: a new one is
 * needed. Throws 404 for an unknown `chatId` and for a thread of another user (ASSUMED-88).
 */
function findThread(
  current: CurrentState,
  caller: ChatCaller,
  session: ChatSession,
  body: StreamBody,
): ThreadRecord | undefined {
  const { state } = current;
  const deploymentId = caller.deployment.id;
  if (body.chatId === null)
    return body.messageId === null ? undefined : openedBy(state, deploymentId, session.owner, body.messageId);
  const thread = threadOf(state, deploymentId, body.chatId);
  if (thread?.owner !== session.owner) throw new SandboxProblem(404, 'Chat thread not found');
  return thread;
}

/** Returns the lines of a thread: the opening record, its messages (with the answer so far while one runs), the closing record. */
function storedThread(current: CurrentState, thread: ThreadRecord): string[] {
  const run = current.state.runs.get(thread.chatId);
  const messages = messagesOf(current.state, thread);
  const state = { chatId: thread.chatId, isStreaming: run !== undefined, messages };
  return storedLines(state, run?.lastSort() ?? thread.lastSort);
}

interface Turn {
  readonly current: CurrentState;
  readonly caller: ChatCaller;
  readonly session: ChatSession;
  readonly body: StreamBody;
}

/** Decides how to answer the request, changes the state in one step, and returns the lines of the answer. */
function converse({ runtime, style }: ChatDeps, turn: Turn): { opening: string; lines: Lines } {
  const { current, caller, session, body } = turn;
  const { state, nowMs } = current;
  const found = findThread(current, caller, session, body);
  // Creates or updates the external user; throws 429 beyond the limit.
  session.admit(current);
  const { id: deploymentId } = caller.deployment;
  const thread =
    found ?? openThread(state, nowMs, { deploymentId, owner: session.owner, keyName: session.keyName });
  const decision = decide(threadStateOf(state, thread), body);
  const { chatId } = thread;
  const run = state.runs.get(chatId);
  if (decision === 'busy') {
    const refusal = errorLine(CHAT_BUSY);
    return { opening: refusal, lines: [refusal] };
  }
  if (decision === 'attach' && run) {
    const messages = messagesOf(state, thread);
    const opening = cutoffLine({ chatId, isStreaming: true, messages }, run.lastSort());
    return { opening, lines: openingWith(opening, run.follow()) };
  }
  const { input } = body;
  // The decisions `read` and `replay` answer with the stored messages.
  if (decision !== 'start' || input === null) {
    const lines = storedThread(current, thread);
    return { opening: lines[0] ?? '', lines };
  }
  const before = { chatId, isStreaming: false, messages: thread.messages };
  const opening = cutoffLine(before, thread.lastSort);
  const answered = startAnswer(runtime, style, { caller, session, thread, body: { ...body, input } });
  return { opening, lines: openingWith(opening, answered) };
}

/**
 * Sends the lines, or loses them as the injected fault says. The fault `status` becomes an error line after the
 * opening line, because the stream has already begun (contract 6.3).
 */
async function sendLines(
  request: Request,
  response: Response,
  { opening, lines }: { opening: string; lines: Lines },
  loss: Loss | undefined,
): Promise<void> {
  const reply = { status: 200, headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' } };
  if (loss?.kind !== 'status') await sendStream(request, response, { ...reply, lines }, loss);
  else {
    const broken = brokenAfter(opening, 'Injected fault in the stream');
    await sendStream(request, response, { ...reply, lines: broken });
  }
}

function streamChat(deps: ChatDeps): RequestHandler {
  return async (request, response) => {
    const caller = deps.callerOf(request);
    const source = bodyOrEmpty(request);
    const settings = settingsOf(caller, source);
    const body = parseStreamBody(source);
    const current = currentStateOf(deps.runtime);
    removeExpired(current);
    requireBranch(caller, body.activeBranchName);
    const session = openChatSession(current, caller, settings);
    const answer = converse(deps, { current, caller, session, body });
    await sendLines(request, response, answer, injectedFaultOf(response).loss);
  };
}

/** Stops the running answer at once; an idle thread is not changed. 404 unknown, 403 thread of another user. */
function abort(deps: ChatDeps, request: Request): HandlerReply {
  const caller = deps.callerOf(request);
  const source = bodyOrEmpty(request);
  const chatId = requireText(source, 'chatId');
  const settings = settingsOf(caller, source);
  const current = currentStateOf(deps.runtime);
  removeExpired(current);
  const thread = threadOf(current.state, caller.deployment.id, chatId);
  if (!thread) throw new SandboxProblem(404, 'Chat thread not found');
  const aborter = identifyAborter(current, caller, settings);
  // A request without sessionSettings names no user, so the API key may stop only the threads that it opened.
  const owns = aborter.kind === 'owner' ? thread.owner === aborter.owner : thread.keyName === aborter.name;
  if (!owns) throw new SandboxProblem(403, 'The chat thread belongs to somebody else');
  current.state.runs.stop(chatId, 'aborted');
  return { status: 204 };
}

/** Builds the routes of both calls, each under the addresses of agents and of deployments, below `/api/v1/public`. */
export function createChatRoutes(deps: ChatDeps, mount: string): MountedRouter {
  const router = Router({ caseSensitive: true });
  for (const form of ['/:accountName/agents/:agentId', '/:accountName/deployments/:deploymentId']) {
    router.post(`${form}/chat/stream-chat-state`, streamChat(deps));
    router.post(`${form}/chat/abort`, (request, response) =>
      sendOrLose(request, response, abort(deps, request)),
    );
  }
  return { mount, router };
}
