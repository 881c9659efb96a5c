// Builds the chat family `/api/v1/public`. It has its own authentication, and answers invalid credentials with a
// JSON-RPC error and status 200 (contract 6.1).
import type { Request } from 'express';
import { platformError } from '../application.ts';
import type { HandlerReply } from '../call.ts';
import type { ApiFamily } from '../family.ts';
import { SandboxProblem } from '../problem.ts';
import { CHAT_UNAUTHORIZED_CODE } from '../settings.ts';
import { currentStateOf, type SandboxRuntime } from '../runtime.ts';
import { authenticateChat, parseAddress, type ChatCaller } from './authentication.ts';
import { createModelChoice, type ChatModelOptions } from './model-choice.ts';
import { SPECIFIED_NAMES, VENDOR_NAMES } from './names.ts';
import { chooseMembers } from './question.ts';
import { createChatRoutes } from './routes.ts';

const MOUNT = '/api/v1/public';

/**
 * Formats a refused credential as a JSON-RPC error object (ASSUMED-83), any other problem as `{error}` with its
 * status.
 */
function render(problem: SandboxProblem): HandlerReply {
  if (problem.status !== 401) return platformError(problem);
  const error = { code: CHAT_UNAUTHORIZED_CODE, message: `Unauthorized: ${problem.message}` };
  return { status: 200, body: { jsonrpc: '2.0', error, id: null } };
}

/** Creates the family. @throws Error for an address of the chat model that is not allowed */
export function createChatFamily(
  runtime: SandboxRuntime,
  options: { vendorNames?: boolean; chatModel?: ChatModelOptions } = {},
): ApiFamily {
  const style = {
    names: options.vendorNames ? VENDOR_NAMES : SPECIFIED_NAMES,
    choose: options.chatModel ? createModelChoice(options.chatModel) : chooseMembers,
  };
  // Set by `authenticate`, read by the routes.
  const callers = new WeakMap<Request, ChatCaller>();
  function callerOf(request: Request): ChatCaller {
    const caller = callers.get(request);
    if (!caller) throw new Error('Chat was mounted without the authentication of its family');
    return caller;
  }
  return {
    mounts: [MOUNT],
    routers: [createChatRoutes({ runtime, style, callerOf }, MOUNT)],
    authenticate: async (request) => {
      const address = parseAddress(request.baseUrl + request.path);
      if (!address) throw new SandboxProblem(404, 'Not found');
      callers.set(request, await authenticateChat(request, currentStateOf(runtime), address, style.names));
      return undefined;
    },
    render,
    mediaType: () => 'application/json',
  };
}
