// Runs a proxy between bridge and platform that can replace answers.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';

export interface FrontAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface Front {
  url: string;
  /** Address of the platform; set before the first request. */
  platformUrl: string;
  /** Sent in place of the token of the bridge; undefined: the token of the bridge is sent. */
  token: string | undefined;
  /** Called for every request; may return an answer in place of the platform's. */
  answer: (method: string, url: string, body: string) => FrontAnswer | undefined;
  /** Called for every answer of the platform; may return another body. */
  edit: (method: string, url: string, body: string) => string | Promise<string>;
  stop(): void;
}

export async function startFront(): Promise<Front> {
  const server = createServer((incoming, outgoing) => {
    const { url = '', method = 'GET', headers } = incoming;
    // These two headers are about the connection to this proxy, not about the request.
    const { host: _host, connection: _connection, ...rest } = headers;
    void buffer(incoming)
      .then(async (sent) => {
        const own = front.answer(method, url, sent.toString());
        if (own) return outgoing.writeHead(own.status, own.headers ?? {}).end(own.body ?? '');
        const answer = await request(front.platformUrl + url, {
          method: method as 'GET',
          headers: front.token === undefined ? rest : { ...rest, authorization: `Bearer ${front.token}` },
          body: sent,
        });
        const body = await buffer(answer.body);
        const type = answer.headers['content-type'];
        return outgoing
          .writeHead(answer.statusCode, type === undefined ? {} : { 'content-type': type })
          .end(await front.edit(method, url, body.toString()));
      })
      .catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const front: Front = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    platformUrl: '',
    token: undefined,
    answer: () => undefined,
    edit: (_method, _url, body) => body,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return front;
}
