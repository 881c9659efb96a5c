// Starts a sandbox and provides functions for chat requests and their streams.
import { SignJWT } from 'jose';
import { request } from 'undici';
import type { SandboxOptions } from '../../../src/sandbox/server.ts';
import { startRig } from './rig.ts';

export interface ChatOptions {
  /** Credentials; by default the admin key as `Api-Key`. */
  headers?: Record<string, string>;
  /** Id of the agent in the address, default 1. */
  agent?: string;
  /** Uses the deployment form of the address. */
  deployment?: string;
  account?: string;
  call?: 'stream-chat-state' | 'abort';
  signal?: AbortSignal;
}

/** Parses the lines of a text to records. */
export function parseLines(text: string): any[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** `sessionSettings` of an external user. */
export const as = (externalId: string, more: object = {}) => ({ sessionSettings: { externalId, ...more } });
/** `sessionSettings` of an internal user. */
export const asInternal = (internalId: string, more: object = {}) => ({
  sessionSettings: { internalId, ...more },
});

/** Returns the final answer by the rule of the specification. */
export function finalOf(records: any[]): any {
  return records.findLast(
    ({ role, graphPath }) => role === 'assistant' && graphPath?.[0] === 'final' && graphPath.length <= 2,
  );
}

/** Returns the parsed results of finished calls of a tool. */
export function toolResults(records: any[], name: string): any[] {
  return records
    .filter(({ toolCall }) => toolCall?.name === name && toolCall.result !== undefined)
    .map(({ toolCall }) => ({ input: JSON.parse(toolCall.input), result: JSON.parse(toolCall.result) }));
}

export const chatIdOf = (records: any[]): string =>
  records.find(({ id }) => id === '__cutoff__').state.chatId;

export async function startChat(options: SandboxOptions = {}) {
  const rig = await startRig(options);
  const { chatHost, accountName } = rig.ready;

  function send(body: unknown, more: ChatOptions) {
    const target = more.deployment ? `deployments/${more.deployment}` : `agents/${more.agent ?? '1'}`;
    const path = `/api/v1/public/${more.account ?? accountName}/${target}/chat`;
    return request(`${chatHost}${path}/${more.call ?? 'stream-chat-state'}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(more.headers ?? { authorization: `Api-Key ${rig.key('admin')}` }),
      },
      body: JSON.stringify(body),
      ...(more.signal ? { signal: more.signal } : {}),
    });
  }

  /** Returns a complete answer; `records` are its parsed lines. */
  async function talk(body: unknown, more: ChatOptions = {}) {
    const response = await send(body, more);
    const text = await response.body.text();
    return { status: response.statusCode, headers: response.headers, text, records: parseLines(text) };
  }

  /** Returns a stream that is read record by record; `close` drops the connection. */
  async function open(body: unknown, more: ChatOptions = {}) {
    const connection = new AbortController();
    const response = await send(body, { ...more, signal: connection.signal });
    const chunks = response.body[Symbol.asyncIterator]();
    const ready: any[] = [];
    let text = '';
    async function next(): Promise<any> {
      while (ready.length === 0) {
        const chunk = await chunks.next();
        if (chunk.done) return undefined;
        text += String(chunk.value);
        const end = text.lastIndexOf('\n') + 1;
        ready.push(...parseLines(text.slice(0, end)));
        text = text.slice(end);
      }
      return ready.shift();
    }
    const rest = async (): Promise<any[]> => {
      const records = [];
      for (let record = await next(); record; record = await next()) records.push(record);
      return records;
    };
    return { status: response.statusCode, next, rest, close: () => connection.abort() };
  }

  return {
    ...rig,
    talk,
    open,
    abort: (body: unknown, more: ChatOptions = {}) => talk(body, { ...more, call: 'abort' }),
    fixtures: async (body: unknown) => (await rig.control('POST', '/fixtures', body)).body,
    /** Runs SQL on Core Data with a token of the deployment and returns the lines. */
    cubesql: async (query: string, token: string) => {
      const response = await request(`${rig.ready.dataApiUrl}/v1/cubesql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: token },
        body: JSON.stringify({ query }),
      });
      return parseLines(await response.body.text());
    },
    set: (body: unknown) => rig.control('PATCH', '/settings', body),
    /** Adds an agent with a script to a deployment and returns its id. */
    agent: async (script: object, deploymentId = '1'): Promise<string> => {
      const answer = await rig.control('POST', '/fixtures', { agents: [{ deploymentId, script }] });
      return answer.body.agents[0].id;
    },
    threads: async () => (await rig.control('GET', '/state?only=threads')).body.threads,
    externalUsers: async () => (await rig.control('GET', '/state?only=externalUsers')).body.externalUsers,
    /**
     * Creates a token with the chat scope unless the claims differ. `deployment` is a position in the ready line, from
     * 0; its secret signs the token unless `secret` is given.
     */
    token: async (claims: object, { deployment = 0, secret = '', expiresIn = '1h' } = {}) => {
      const { apiSecret = '' } = rig.ready.fixtures.deployments[deployment] ?? {};
      return new SignJWT({ scope: ['chat'], ...claims })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuedAt()
        .setExpirationTime(expiresIn)
        .sign(new TextEncoder().encode(secret || apiSecret));
    },
  };
}

export type ChatRig = Awaited<ReturnType<typeof startChat>>;
export const withToken = (token: string): Record<string, string> => ({ 'x-service-auth-token': token });
