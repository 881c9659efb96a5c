// The chat family `/api/v1/public`: its own credentials, and bad ones answered as JSON-RPC in a 200 (contract 6.1).
import type { Request } from 'express';
import { platformError } from '../application.ts';
import type { Reply } from '../call.ts';
import type { Family } from '../family.ts';
import { Problem } from '../problem.ts';
import { CHAT_UNAUTHORIZED_CODE } from '../settings.ts';
import { sceneOf, type World } from '../world.ts';
import { authenticateChat, parseAddress, type ChatCaller } from './authentication.ts';
import type { ChatNames } from './names.ts';
import { createChatRoom } from './room.ts';

const MOUNT = '/api/v1/public';

/** A refused credential is a JSON-RPC error object (ASSUMED-83); everything else is `{error}` with its status. */
function render(problem: Problem): Reply {
  if (problem.status !== 401) return platformError(problem);
  const error = { code: CHAT_UNAUTHORIZED_CODE, message: `Unauthorized: ${problem.message}` };
  return { status: 200, body: { jsonrpc: '2.0', error, id: null } };
}

export function createChatFamily(world: World, names: ChatNames): Family {
  const callers = new WeakMap<Request, ChatCaller>();
  function callerOf(request: Request): ChatCaller {
    const caller = callers.get(request);
    if (!caller) throw new Error('Chat was mounted without the walls of its family');
    return caller;
  }
  return {
    mounts: [MOUNT],
    rooms: [createChatRoom({ world, names, callerOf }, MOUNT)],
    authenticate: async (request) => {
      const address = parseAddress(request.baseUrl + request.path);
      if (!address) throw new Problem(404, 'Not found');
      callers.set(request, await authenticateChat(request, sceneOf(world), address, names));
      return undefined;
    },
    render,
    mediaType: () => 'application/json',
  };
}
