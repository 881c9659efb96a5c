// Runs an HTTP server with scripted answers that records its requests.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  connectPlatform,
  type PlatformCall,
  type PlatformClient,
  type PlatformClientOptions,
} from '../../../src/platform/client.ts';

export const TOKEN = 'sk-rest-0123456789abcdef';
export const SCIM_TOKEN = 'sk-scim-fedcba9876543210';

/** A request that the server got; `body` is the JSON of `text`, undefined without a body. */
export interface Asked {
  method: string;
  url: URL;
  /** Path and query as received. */
  target: string;
  headers: IncomingHttpHeaders;
  body: unknown;
  text: string;
}

/** Answers one request. */
export type Script = (asked: Asked, response: ServerResponse) => void;

export interface FakePlatform {
  url: string;
  /** Requests that the server got. */
  asked: Asked[];
  /** Calls that the clients reported to `onCall`. */
  calls: PlatformCall[];
  client: PlatformClient;
  /** Creates another client of the same server, closed with it. */
  clientWith(options: Partial<PlatformClientOptions>): PlatformClient;
  stop(): Promise<void>;
}

export function answerJson(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export async function startFakePlatform(
  script: Script,
  options: Partial<PlatformClientOptions> = {},
): Promise<FakePlatform> {
  const asked: Asked[] = [];
  const calls: PlatformCall[] = [];
  const clients: PlatformClient[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const target = request.url ?? '';
      const entry: Asked = {
        method: request.method ?? '',
        url: new URL(target, 'http://platform.test'),
        target,
        headers: request.headers,
        body: text === '' ? undefined : JSON.parse(text),
        text,
      };
      asked.push(entry);
      script(entry, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clientWith = (more: Partial<PlatformClientOptions>): PlatformClient => {
    const client = connectPlatform({
      url,
      token: TOKEN,
      scimToken: SCIM_TOKEN,
      allowLoopbackHttp: true,
      timeoutMs: 5000,
      onCall: (call) => calls.push(call),
      ...options,
      ...more,
    });
    clients.push(client);
    return client;
  };
  return {
    url,
    asked,
    calls,
    client: clientWith({}),
    clientWith,
    async stop() {
      server.closeAllConnections();
      await Promise.all(clients.map((client) => client.close()));
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns the error that the call throws; fails the test when it throws none. */
export async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await call;
  } catch (fault) {
    return fault;
  }
  throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
}
