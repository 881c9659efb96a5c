// Refuses request bodies that come in a great many small chunks, because such a body would occupy the process.
import { IncomingMessage, type ServerResponse } from 'node:http';
import { errorBody, payloadTooLarge } from '../scim/index.ts';

/**
 * A body with more than MANY_CHUNKS chunks is refused when they are smaller than SMALL_CHUNK_BYTES on average. A chunk takes
 * up to 20 µs of processor time, however small it is. One read of a socket can bring 11,000 chunks of one byte, which are
 * handled in one turn of the event loop.
 */
const MANY_CHUNKS = 500;
const SMALL_CHUNK_BYTES = 128;

const REFUSAL = JSON.stringify(
  errorBody(payloadTooLarge('The body comes in too many small chunks: send larger ones.')),
);
/** The complete HTTP response with REFUSAL, written to the socket directly. */
const REFUSAL_RESPONSE = [
  'HTTP/1.1 413 Payload Too Large',
  'Content-Type: application/scim+json',
  `Content-Length: ${REFUSAL.length}`,
  'Connection: close',
  '',
  REFUSAL,
].join('\r\n');

/**
 * A request that counts the chunks of its body, for the option `IncomingMessage` of `http.createServer`. The HTTP parser of
 * Node.js calls `push` for each chunk, before the chunk is buffered for a reader.
 */
export class CountedRequest extends IncomingMessage {
  #chunks = 0;
  #bytes = 0;
  #response: ServerResponse | undefined;

  /**
   * Starts to count. Chunks that arrive after the answer count too, because Node.js reads and discards the rest of an unread
   * body without a limit.
   */
  limitChunks(response: ServerResponse): void {
    // Only a body with Transfer-Encoding has chunks; of another body the parser passes on what one read of the socket brings.
    if (this.headers['transfer-encoding'] === undefined) return;
    this.#response = response;
    // Node.js would discard an unread body without calling `push`, so its chunks would not be counted. This call reads nothing,
    // but the request then counts as read, so that Node.js leaves the body to `resume`, which reads it through `push`.
    this.read(0);
    response.once('finish', () => this.resume());
  }

  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    const response = this.#response;
    if (chunk === null || !response) return super.push(chunk, encoding);
    if (this.destroyed) return false;
    this.#bytes += chunk.length;
    this.#chunks += 1;
    const areSmall = this.#bytes < this.#chunks * SMALL_CHUNK_BYTES;
    // After the answer nothing reads the body, so many chunks of any size are refused.
    const isRefused = this.#chunks > MANY_CHUNKS && (areSmall || response.writableEnded);
    if (!isRefused) return super.push(chunk, encoding);
    // A response without a socket still waits for the response to an earlier pipelined request.
    if (response.socket && !response.headersSent) this.socket.write(REFUSAL_RESPONSE);
    this.destroy();
    return false;
  }
}
