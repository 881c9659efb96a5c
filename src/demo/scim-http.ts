// Sends the SCIM requests of one identity provider to the bridge, checks every status and counts the requests.
import { request, type Dispatcher } from 'undici';

interface ScimHttpOptions {
  /** Name of the provider, for messages. */
  name: string;
  /** Address of the SCIM root. */
  baseUrl: string;
  token: string;
  headers?: Record<string, string>;
  agent: Dispatcher;
  signal: AbortSignal;
}

/** The fields of answers that the demo reads: of one resource, and of a list. */
interface ScimAnswer {
  id: string;
  Resources: { id: string }[];
}

export type ScimHttp = ReturnType<typeof createScimHttp>;

/** Creates the client; it connects at the first `send`. */
export function createScimHttp(options: ScimHttpOptions) {
  const { name, baseUrl, agent, signal } = options;
  let sent = 0;
  const headers = {
    authorization: `Bearer ${options.token}`,
    accept: 'application/scim+json',
    'content-type': 'application/scim+json; charset=utf-8',
    ...options.headers,
  };
  return {
    /** Returns the number of requests sent. */
    sent: () => sent,
    /** @throws Error with a readable message unless the bridge answers 2xx */
    send: async (
      method: 'GET' | 'POST' | 'PUT' | 'PATCH',
      path: string,
      body?: object,
    ): Promise<ScimAnswer> => {
      sent++;
      const answer = await request(baseUrl + path, {
        method,
        headers,
        signal,
        dispatcher: agent,
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) {
        throw new Error(
          `${name} sent ${method} ${path} and the bridge answered ${answer.statusCode}: ${text}`,
        );
      }
      // An answer without body (204), whose fields no caller reads.
      return (text === '' ? { id: '', Resources: [] } : JSON.parse(text)) as ScimAnswer;
    },
  };
}
