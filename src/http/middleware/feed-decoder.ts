// Writes the body of a request to its decoder, many chunks at a time.
import type { IncomingMessage } from 'node:http';

/**
 * `pipe` would write each chunk by itself, and each write is work for another thread. Here all chunks that arrived until the
 * next iteration of the event loop are one write.
 * @returns a function that stops it
 */
export function feedDecoder(
  request: IncomingMessage,
  decoder: NodeJS.WritableStream,
  onBytes: (bytes: number) => void,
): () => void {
  let isWaiting = false;
  let isStopped = false;
  const later = (): void => {
    if (!isWaiting) setImmediate(move);
    isWaiting = true;
  };
  const move = (): void => {
    isWaiting = false;
    if (isStopped) return;
    const bytes = request.read() as Buffer | null;
    if (bytes === null) return;
    onBytes(bytes.length);
    if (decoder.write(bytes)) return;
    isWaiting = true;
    decoder.once('drain', () => {
      isWaiting = false;
      later();
    });
  };
  const end = (): void => void decoder.end();
  request.on('readable', later).on('end', end);
  return () => {
    isStopped = true;
    request.off('readable', later).off('end', end);
  };
}
