// Streams CSV and NDJSON answers line by line, with backpressure, until the client disconnects.
import { once } from 'node:events';
import type { Request, Response } from 'express';
import type { Loss } from './faults.ts';
import { loseAnswer } from './loss.ts';

/** Pieces of text in order; each is written unchanged, line ends included. */
export type Lines = Iterable<string> | AsyncIterable<string>;

export interface StreamedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly lines: Lines;
}

type Next = IteratorResult<string, unknown>;

function iteratorOf(lines: Lines): Iterator<string> | AsyncIterator<string> {
  return Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]();
}

/** Resolves with the promise, or with undefined as soon as the signal is aborted; removes its listener. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const leave = (): void => resolve(undefined);
    signal.addEventListener('abort', leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

/** Writes until the lines end or the client disconnects. @returns whether all lines were sent */
async function writeAll(
  request: Request,
  response: Response,
  next: () => Next | Promise<Next>,
  reply: StreamedReply,
  loss: Loss | undefined,
  left: AbortSignal,
): Promise<boolean> {
  for (;;) {
    const step = next();
    const line = step instanceof Promise ? await unlessAborted(step, left) : step;
    if (line === undefined || left.aborted) return false;
    if (!response.headersSent) response.writeHead(reply.status, reply.headers);
    if (line.done) {
      response.end();
      return true;
    }
    if (loss) {
      // The line must have left the process before the socket is destroyed, or the client gets nothing.
      await new Promise<void>((sent) => response.write(line.value, () => sent()));
      await loseAnswer(request, loss);
      return false;
    }
    if (!response.write(line.value)) await once(response, 'drain', { signal: left });
  }
}

/**
 * Sends the lines as they arrive. The status is sent with the first line, so an earlier failure gets a regular
 * error answer; a later failure closes the connection, which clients detect. When the client disconnects the
 * iterator is returned at once, even while its next line is pending. With `loss` the answer breaks after its
 * first line (status kinds: before it, thrown as Problem).
 */
export async function sendStream(
  request: Request,
  response: Response,
  reply: StreamedReply,
  loss?: Loss,
): Promise<void> {
  if (loss?.kind === 'status') return loseAnswer(request, loss);
  const iterator = iteratorOf(reply.lines);
  const left = new AbortController();
  const leave = (): void => left.abort();
  if (response.destroyed) leave();
  response.once('close', leave);
  let isComplete = false;
  try {
    isComplete = await writeAll(request, response, () => iterator.next(), reply, loss, left.signal);
  } catch (error) {
    if (left.signal.aborted) return;
    if (!response.headersSent) throw error;
    request.socket.destroy();
  } finally {
    response.off('close', leave);
    // Not awaited: an async generator finishes its pending step first.
    if (!isComplete) Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}
