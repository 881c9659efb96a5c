// Starts the next request of a connection when the former one is answered. Node.js starts all requests that a client sent at
// once (pipelining), and would hold all their answers until the client reads the first.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Request = [request: IncomingMessage, response: ServerResponse];

const WAITING = Symbol('requests that wait');

interface SocketWithTurns extends Socket {
  [WAITING]?: Request[] | undefined;
}

/** No client sends more ahead: each request that waits costs a few kilobytes. */
const MOST_WAITING = 1000;

export function onePerSocket(app: RequestListener): RequestListener {
  function start([request, response]: Request, waiting: Request[]): void {
    response.on('close', () => {
      const next = waiting.shift();
      const { socket } = request;
      if (!next) (socket as SocketWithTurns)[WAITING] = undefined;
      else if (!socket.destroyed) {
        if (waiting.length === 0) socket.resume();
        start(next, waiting);
      }
    });
    app(request, response);
  }

  return (request, response) => {
    const socket = request.socket as SocketWithTurns;
    const waiting = socket[WAITING];
    if (!waiting) start([request, response], (socket[WAITING] = []));
    else if (waiting.push([request, response]) > MOST_WAITING) socket.destroy();
    else socket.pause();
  };
}
