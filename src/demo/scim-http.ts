// One identity provider's line to the bridge: plain SCIM over HTTP, every answer checked and counted.
import { request, type Dispatcher } from 'undici';

export interface ScimHttpOptions {
  /** Who speaks, for messages. */
  name: string;
  /** Address of the SCIM root. */
  baseUrl: string;
  token: string;
  headers?: Record<string, string>;
  agent: Dispatcher;
  signal: AbortSignal;
}

export interface ScimAnswer {
  id: string;
  Resources: { id: string }[];
}

export interface ScimHttp {
  /** @throws Error in words when the bridge answers anything but 2xx */
  send(method: 'GET' | 'POST' | 'PUT' | 'PATCH', path: string, body?: object): Promise<ScimAnswer>;
  /** Requests sent so far. */
  sent(): number;
}

/** Opens the line; nothing is sent before the first `send`. */
export function createScimHttp(options: ScimHttpOptions): ScimHttp {
  const { name, baseUrl, agent, signal } = options;
  let sent = 0;
  const headers = {
    authorization: `Bearer ${options.token}`,
    accept: 'application/scim+json',
    'content-type': 'application/scim+json; charset=utf-8',
    ...options.headers,
  };
  return {
    sent: () => sent,
    send: async (method, path, body) => {
      sent++;
      const answer = await request(baseUrl + path, {
        ...{ method, headers, signal, dispatcher: agent },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) {
        throw new Error(
          `${name} sent ${method} ${path} and the bridge answered ${answer.statusCode}: ${text}`,
        );
      }
      return (text === '' ? { id: '', Resources: [] } : JSON.parse(text)) as ScimAnswer;
    },
  };
}
