// Reads consecutive HTTP answers from a socket; bodies are counted and discarded.

type Body = { kind: 'head' } | { kind: 'length'; left: number } | { kind: 'chunked'; tail: string };

const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';

/** @returns a listener for `data`; `onAnswer` is called when the last byte of an answer has arrived */
export function createAnswerReader(
  onAnswer: (status: number, head: string) => void,
): (chunk: Buffer) => void {
  let held: Buffer = Buffer.alloc(0);
  let body: Body = { kind: 'head' };
  let head = '';

  const finish = (): void => {
    body = { kind: 'head' };
    onAnswer(Number(head.slice(9, 12)), head);
  };

  /** @returns false when more bytes are needed */
  function step(): boolean {
    if (body.kind === 'head') {
      const end = held.indexOf(HEAD_END);
      if (end < 0) return false;
      head = held.toString('latin1', 0, end);
      held = held.subarray(end + HEAD_END.length);
      const chunked = /\r\ntransfer-encoding: chunked/i.test(head);
      const left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      body = chunked ? { kind: 'chunked', tail: '' } : { kind: 'length', left };
      if (!chunked && left === 0) finish();
      return true;
    }
    if (held.length === 0) return false;
    if (body.kind === 'length') {
      const taken = Math.min(body.left, held.length);
      body.left -= taken;
      held = held.subarray(taken);
      if (body.left === 0) finish();
      return held.length > 0;
    }
    // JSON contains no raw line break, so the first `0\r\n\r\n` ends the last chunk. It may arrive in two pieces.
    const text = body.tail + held.toString('latin1');
    const end = text.indexOf(LAST_CHUNK);
    if (end < 0) {
      body.tail = text.slice(-LAST_CHUNK.length);
      held = Buffer.alloc(0);
      return false;
    }
    held = held.subarray(end + LAST_CHUNK.length - body.tail.length);
    finish();
    return held.length > 0;
  }

  return (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (step());
  };
}
