// One request as a handler sees it, and the way its answer leaves: through the faults, never around them.
import type { Request, RequestHandler, Response } from 'express';
import type { Caller } from './auth.ts';
import type { Fate } from './faults.ts';
import type { JsonObject } from './json.ts';
import { requireObject } from './json.ts';
import { loseAnswer } from './loss.ts';
import { Problem } from './problem.ts';
import type { RequestEntry } from './requests.ts';
import { viewOf, type Scene, type StateView } from './state.ts';
import { sendStream, type StreamedReply } from './stream.ts';
import { sceneOf, type World } from './world.ts';

export interface Reply {
  readonly status: number;
  /** Absent = no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the middlewares in front of the rooms have found out about a request. */
export interface Visit {
  readonly entry: RequestEntry;
  fate?: Fate;
  caller?: Caller;
  /** Media type of the answer. */
  mediaType: string;
}

/** A request in a handler's hands; `read` is the state it may show (stale when a fault says so). */
export interface Call extends Scene {
  readonly request: Request;
  readonly caller: Caller;
  readonly read: StateView;
  readonly fate: Fate;
  readonly platformUrl: string;
  /** Where the data API is served. */
  readonly dataApiUrl: string;
}

/**
 * A handler reads, changes the state in one synchronous step, and answers, perhaps after waiting for something;
 * it throws Problem to refuse. What it waits for comes before or after that step, never inside it.
 */
export type Handler = (call: Call) => Reply | StreamedReply | Promise<Reply | StreamedReply>;

export function visitOf(response: Response): Visit {
  return response.locals['visit'] as Visit;
}

/** Sends JSON at once, with its length, in the family's media type; without a body nothing but the status. */
export function send(response: Response, reply: Reply): void {
  if (reply.body === undefined) {
    response.writeHead(reply.status, reply.headers).end();
    return;
  }
  const text = JSON.stringify(reply.body);
  response.writeHead(reply.status, {
    'Content-Type': `${visitOf(response).mediaType}; charset=utf-8`,
    'Content-Length': String(Buffer.byteLength(text)),
    ...reply.headers,
  });
  response.end(text);
}

/** Turns a handler into Express middleware: builds the call, runs it, sends or loses the answer. */
export function answer(world: World, handler: Handler): RequestHandler {
  return async (request, response) => {
    const { caller, fate } = visitOf(response);
    if (!caller || !fate) throw new Error('A room was mounted without the walls of its family');
    const scene = sceneOf(world);
    const cutoffMs = fate.staleMs > 0 && request.method === 'GET' ? scene.nowMs - fate.staleMs : null;
    const read = viewOf(scene.state, cutoffMs);
    const { platformUrl } = world;
    const addresses = { platformUrl, dataApiUrl: `${platformUrl}${world.dataPath}` };
    const reply = await handler({ ...scene, request, caller, read, fate, ...addresses });
    if ('lines' in reply) await sendStream(request, response, reply, fate.loss);
    else if (fate.loss) await loseAnswer(request, fate.loss);
    else send(response, reply);
  };
}

/** The parsed JSON body as an object, or 400 `invalidSyntax`. */
export function bodyOf(call: Call): JsonObject {
  return requireObject(call.request.body, 'The request body');
}

/** A path parameter as text. */
export function pathText(call: Call, name: string): string {
  const value = call.request.params[name];
  return typeof value === 'string' ? value : '';
}

/** A path parameter that must be a whole number, or 400 (ASSUMED-51). */
export function pathNumber(call: Call, name: string): number {
  const text = pathText(call, name);
  if (!/^\d{1,15}$/.test(text)) throw new Problem(400, `${name} must be a number`);
  return Number(text);
}

/** A query parameter, the first one if it is repeated; undefined when absent. */
export function queryText(call: Call, name: string): string | undefined {
  const query = call.request.query;
  const value = Object.hasOwn(query, name) ? query[name] : undefined;
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : undefined;
}

/** Adds an event to the audit log in the caller's name; `deploymentName` where it concerns one deployment. */
export function audit(call: Call, eventName: string, attributes: JsonObject, deploymentName = ''): void {
  call.state.audit.add({
    timestamp: new Date(call.nowMs).toISOString(),
    userEmail: call.caller.user.email,
    eventName,
    deploymentName,
    ipAddress: call.request.ip ?? '',
    attributes,
  });
}
