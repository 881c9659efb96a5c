// Feeds the compressed bytes of a request body to a decompressor.
import type { IncomingMessage } from 'node:http';

/**
 * Writes all chunks that arrive within one iteration of the event loop at once. `pipe` would write each chunk by itself, and
 * each write starts work in another thread.
 * @param onBytes gets the number of compressed bytes of each write
 * @returns a function that stops the writing
 */
export function feedDecoder(
  request: IncomingMessage,
  decoder: NodeJS.WritableStream,
  onBytes: (bytes: number) => void,
): () => void {
  let isWaiting = false;
  let isStopped = false;
  const scheduleWrite = (): void => {
    if (!isWaiting) setImmediate(writeArrived);
    isWaiting = true;
  };
  const writeArrived = (): void => {
    isWaiting = false;
    if (isStopped) return;
    const bytes = request.read() as Buffer | null;
    if (bytes === null) return;
    onBytes(bytes.length);
    if (decoder.write(bytes)) return;
    isWaiting = true;
    decoder.once('drain', () => {
      isWaiting = false;
      scheduleWrite();
    });
  };
  const end = (): void => void decoder.end();
  request.on('readable', scheduleWrite).on('end', end);
  return () => {
    isStopped = true;
    request.off('readable', scheduleWrite).off('end', end);
  };
}
