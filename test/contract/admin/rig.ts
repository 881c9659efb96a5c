// Provides a client of the admin API that validates every answer by the OpenAPI document of the service.
import { createSchemaCheck } from '../../support/answer-schemas.ts';
import { ADMIN_TOKEN, buildBridge, type Bridge, type BridgeOptions } from '../../support/build-bridge.ts';
import { eventually } from '../../support/eventually.ts';
import { send as sendRequest, type Reply } from '../../support/send.ts';

export type AdminReply = Reply;

export interface Operator {
  get(path: string): Promise<AdminReply>;
  post(path: string, body?: unknown): Promise<AdminReply>;
  delete(path: string): Promise<AdminReply>;
  /** Polls an operation until it ends. @returns the ended operation */
  ended(id: string, limitMs?: number): Promise<any>;
}

export interface AdminRig {
  bridge: Bridge;
  operator: Operator;
  /** Sends a request without the default headers of the client. */
  raw: (path: string, init?: RequestInit) => Promise<Response>;
  /** Resolves when no sync is pending. */
  untilSynced(): Promise<void>;
}

/** Starts a bridge with an admin token. */
export async function openAdmin(options: BridgeOptions = {}): Promise<AdminRig> {
  const bridge = await buildBridge(options);
  const raw = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${bridge.app.port}${path}`, { redirect: 'manual', ...init });
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  const document = await (await raw('/admin/v1/openapi.json', { headers: { authorization } })).json();
  const check = createAnswerCheck(document);

  async function send(method: string, path: string, body?: unknown): Promise<AdminReply> {
    const reply = await sendRequest(`http://127.0.0.1:${bridge.app.port}/admin/v1`, method, path, {
      headers: { authorization, 'content-type': body === undefined ? undefined : 'application/json' },
      body,
    });
    check(method, path, reply);
    return reply;
  }

  const get = (path: string): Promise<AdminReply> => send('GET', path);
  return {
    bridge,
    raw,
    operator: {
      get,
      post: (path, body) => send('POST', path, body),
      delete: (path) => send('DELETE', path),
      ended: async (id, limitMs = 30_000) => {
        let operation: any;
        const hasEnded = async () => {
          operation = (await get(`/operations/${id}`)).body;
          return operation.state !== 'running';
        };
        await eventually(`operation ${id} ends`, hasEnded, limitMs);
        return operation;
      },
    },
    untilSynced: () =>
      eventually('all is applied', async () =>
        (await get('/status')).body.every(({ dirty }: { dirty: number }) => dirty === 0),
      ),
  };
}

/** Returns a function that throws an Error when an answer does not match the OpenAPI document. */
function createAnswerCheck(document: any): (method: string, path: string, reply: AdminReply) => void {
  const checkBySchema = createSchemaCheck(document);
  const patterns = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    dynamic: path.includes('{'),
  }));
  return (method, path, { status, headers, body }) => {
    const plain = path.split('?')[0] ?? '';
    const fitting = patterns.filter(({ pattern }) => pattern.test(plain));
    const known = fitting.find(({ dynamic }) => !dynamic) ?? fitting[0];
    const operation = known && document.paths[known.path][method.toLowerCase()];
    if (!operation) return;
    const answer = operation.responses[status];
    if (!answer) throw new Error(`${method} ${plain} answered ${status}, which the document does not have`);
    const type = (headers['content-type'] ?? '').split(';')[0] ?? '';
    if (answer.content && !(type in answer.content)) throw new Error(`${plain} answered with ${type}`);
    const schema = answer.content?.[type]?.schema;
    if (!schema || typeof body !== 'object') return;
    checkBySchema(`${known.path} ${method} ${status}`, schema, body);
  };
}
