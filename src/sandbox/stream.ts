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

/** Resolves with the promise, or with undefined as soon as the signal is aborted. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => resolve(undefined);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

/** Writes until the lines end or the client disconnects. @returns whether all lines were sent */
async function writeAll(
  request: Request,
  response: Response,
  next: () => Next | Promise<Next>,
  reply: StreamedReply,
  loss: Loss | undefined,
  disconnected: AbortSignal,
): Promise<boolean> {
  for (;;) {
    const step = next();
    const line = step instanceof Promise ? await unlessAborted(step, disconnected) : step;
    if (line === undefined || disconnected.aborted) return false;
    if (!response.headersSent) response.writeHead(reply.status, reply.headers);
    if (loss) {
      // The line must have left the process before the socket is destroyed, or the client gets nothing.
      if (!line.done) await new Promise<void>((sent) => response.write(line.value, () => sent()));
      await loseAnswer(request, loss);
      return false;
    }
    if (line.done) {
      response.end();
      return true;
    }
    if (!response.write(line.value)) await once(response, 'drain', { signal: disconnected });
  }
}

/**
 * Sends the lines as they arrive. The status is sent with the first line, so an earlier failure gets a regular
 * error answer; a later failure closes the connection, which clients detect. When the client disconnects, the
 * iterator is ended at once, even while its next line is pending.
 * @param loss an injected fault (faults.ts): the connection breaks after the first line, or at the end of a stream
 *   without lines; the kind `status` sends no line and throws
 *   a SandboxProblem instead
 */
export async function sendStream(
  request: Request,
  response: Response,
  reply: StreamedReply,
  loss?: Loss,
): Promise<void> {
  if (loss?.kind === 'status') return loseAnswer(request, loss);
  const iterator = iteratorOf(reply.lines);
  const disconnected = new AbortController();
  const onClose = (): void => disconnected.abort();
  if (response.destroyed) onClose();
  response.once('close', onClose);
  let isComplete = false;
  try {
    isComplete = await writeAll(request, response, () => iterator.next(), reply, loss, disconnected.signal);
  } catch (error) {
    if (disconnected.signal.aborted) return;
    if (!response.headersSent) throw error;
    request.socket.destroy();
  } finally {
    response.off('close', onClose);
    // Not awaited: an async generator finishes its pending step first.
    if (!isComplete) Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}
