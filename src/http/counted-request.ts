// Closes the connection of a request whose body comes in a great many small chunks, before anything reads the body.
import { IncomingMessage, type ServerResponse } from 'node:http';

/**
 * A body with more chunks than this, each below FEW_BYTES on average, is refused. Each chunk takes processor time however
 * small it is, and one read of a socket can bring 11,000 chunks.
 */
const MANY_CHUNKS = 1000;
const FEW_BYTES = 128;

const REFUSAL = JSON.stringify({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
  status: '413',
  detail: 'The body comes in too many small chunks: send larger ones.',
});
const ANSWER = [
  'HTTP/1.1 413 Payload Too Large',
  'Content-Type: application/scim+json',
  `Content-Length: ${REFUSAL.length}`,
  'Connection: close',
  '',
  REFUSAL,
].join('\r\n');

/**
 * A request that counts the chunks of its body, for the option `IncomingMessage` of `http.createServer`. The parser of
 * Node.js pushes each chunk at once; only this method sees them before they are buffered for a reader.
 */
export class CountedRequest extends IncomingMessage {
  #chunks = 0;
  #bytes = 0;
  #response: ServerResponse | undefined;

  /** Counts the chunks that follow the answer too: Node.js reads and discards those of an unread body without a limit. */
  limitChunks(response: ServerResponse): void {
    if (this.headers['transfer-encoding'] === undefined) return;
    this.#response = response;
    // Node.js discards by itself, uncounted, what was never read; this call reads nothing.
    this.read(0);
    response.once('finish', () => this.resume());
  }

  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    const response = this.#response;
    if (chunk === null || !response) return super.push(chunk, encoding);
    if (this.destroyed) return false;
    this.#bytes += chunk.length;
    const isMany = ++this.#chunks > MANY_CHUNKS;
    if (!isMany || (this.#bytes >= this.#chunks * FEW_BYTES && !response.writableEnded))
      return super.push(chunk, encoding);
    // A response without a socket waits for an earlier one of the same connection.
    if (response.socket && !response.headersSent) this.socket.write(ANSWER);
    this.destroy();
    return false;
  }
}
