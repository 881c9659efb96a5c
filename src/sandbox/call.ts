// Defines a call, which is a request as handlers see it, and sends the answer or loses it as an injected fault says.
import type { Request, RequestHandler, Response } from 'express';
import type { Caller } from './auth.ts';
import type { InjectedFault } from './faults.ts';
import { type SandboxJsonObject, requireObject, WHOLE_NUMBER } from './json.ts';
import { loseAnswer } from './loss.ts';
import { SandboxProblem } from './problem.ts';
import type { RequestEntry } from './requests.ts';
import { viewOf, type CurrentState, type StateView } from './state.ts';
import { sendStream, type StreamedReply } from './stream.ts';
import { currentStateOf, type SandboxRuntime } from './runtime.ts';

export interface HandlerReply {
  readonly status: number;
  /** Absent = no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request in progress: results of the middleware that runs before the routes. */
export interface Visit {
  /** Entry of the request log. */
  readonly entry: RequestEntry;
  /** Faults that are injected into this request; absent until they are decided. */
  fault?: InjectedFault;
  /** Absent before the authentication, and in families with callers of their own kind. */
  caller?: Caller;
  /** Media type of the answer. */
  mediaType: string;
}

/** The argument of a handler. */
export interface Call extends CurrentState {
  readonly request: Request;
  readonly caller: Caller;
  /** State that a read returns: live, or earlier with the fault `staleReadsMs`. */
  readonly read: StateView;
  readonly fault: InjectedFault;
  readonly platformUrl: string;
  /** Address of the data API. */
  readonly dataApiUrl: string;
}

/**
 * Handles a call: reads, changes the state in one synchronous step, and returns the answer. To refuse, it throws a
 * SandboxProblem. A handler may await before or after that step, never inside it.
 */
export type Handler = (call: Call) => HandlerReply | StreamedReply | Promise<HandlerReply | StreamedReply>;

/** Returns the visit of a request, which the first middleware of the application stores (application.ts). */
export function visitOf(response: Response): Visit {
  return response.locals['visit'] as Visit;
}

/** Returns the faults, which are decided before the authentication (application.ts). */
export const injectedFaultOf = (response: Response): InjectedFault =>
  visitOf(response).fault as InjectedFault;

/** Returns the caller, whom the middleware of the family authenticates before its routes (application.ts). */
export function callerOf(response: Response): Caller {
  const { caller } = visitOf(response);
  if (!caller) throw new Error('A router was mounted without the checks of its family');
  return caller;
}

/** Sends the body as JSON in the family's media type; a reply without a body is sent as its status alone. */
export function sendReply(response: Response, reply: HandlerReply): void {
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

/** Sends the answer, or loses it as the injected fault of the request says. */
export async function sendOrLose(
  request: Request,
  response: Response,
  reply: HandlerReply | StreamedReply,
): Promise<void> {
  const { loss } = injectedFaultOf(response);
  if ('lines' in reply) await sendStream(request, response, reply, loss);
  else if (loss) await loseAnswer(request, loss);
  else sendReply(response, reply);
}

/** Converts a handler to Express middleware: builds the call, runs the handler, sends or loses the answer. */
export function answer(runtime: SandboxRuntime, handler: Handler): RequestHandler {
  return async (request, response) => {
    const caller = callerOf(response);
    const fault = injectedFaultOf(response);
    const current = currentStateOf(runtime);
    // Only reads may be stale.
    const cutoffMs = fault.staleMs > 0 && request.method === 'GET' ? current.nowMs - fault.staleMs : null;
    const read = viewOf(current.state, cutoffMs);
    const reply = await handler({
      ...current,
      request,
      caller,
      read,
      fault,
      platformUrl: runtime.platformUrl,
      dataApiUrl: `${runtime.platformUrl}${runtime.dataPath}`,
    });
    await sendOrLose(request, response, reply);
  };
}

/** Returns the parsed JSON body of a request; an empty object without a body. @throws 400 for another value */
export function bodyOrEmpty(request: Request): SandboxJsonObject {
  return requireObject((request.body as unknown) ?? {}, 'The request body');
}

/** Returns the parsed JSON body. @throws 400 `invalidSyntax` unless it is an object */
export function bodyOf(call: Call): SandboxJsonObject {
  return requireObject(call.request.body, 'The request body');
}

/** Returns a path parameter as text; '' when the route has no parameter of this name. */
export function pathText(call: Call, name: string): string {
  const value = call.request.params[name];
  return typeof value === 'string' ? value : '';
}

/** Returns a path parameter as a whole number. @throws 400 for other text (ASSUMED-51) */
export function pathNumber(call: Call, name: string): number {
  const text = pathText(call, name);
  if (!WHOLE_NUMBER.test(text)) throw new SandboxProblem(400, `${name} must be a number`);
  return Number(text);
}

/** Returns a query parameter, the first one if it is repeated; undefined when absent. */
export function queryText(call: Call, name: string): string | undefined {
  const query = call.request.query;
  const value = Object.hasOwn(query, name) ? query[name] : undefined;
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : undefined;
}

/** Adds an event to the audit log in the caller's name; without `deploymentName` it is an event of the whole tenant. */
export function audit(
  call: Call,
  eventName: string,
  attributes: SandboxJsonObject,
  deploymentName = '',
): void {
  call.state.audit.add({
    timestamp: new Date(call.nowMs).toISOString(),
    userEmail: call.caller.user.email,
    eventName,
    deploymentName,
    ipAddress: call.request.ip ?? '',
    attributes,
  });
}
