// Answers the requests of one socket one after the other. Clients may send several requests at once (HTTP pipelining), and Node.js
// would run all of them at the same time.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Exchange = [request: IncomingMessage, response: ServerResponse];

const WAITING = Symbol('requests that wait');

interface SocketWithTurns extends Socket {
  /** Requests behind the one that is being answered; undefined while none is. */
  [WAITING]?: Exchange[] | undefined;
}

/** Largest number of waiting requests of one socket; each takes a few kilobytes. */
const MOST_WAITING = 1000;

/**
 * Returns a listener that starts a request of a socket only when the answer to the request before it has ended. The socket is not
 * read while requests wait.
 */
export function onePerSocket(app: RequestListener): RequestListener {
  function start([request, response]: Exchange, waiting: Exchange[]): void {
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
    if (!waiting) {
      socket[WAITING] = [];
      start([request, response], socket[WAITING]);
      return;
    }
    waiting.push([request, response]);
    if (waiting.length > MOST_WAITING) socket.destroy();
    else socket.pause();
  };
}
