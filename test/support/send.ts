// Sends one HTTP request of a test and reads the whole answer.
import supertest from 'supertest';

export interface Reply {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** Parsed JSON, else the text; undefined without a body. */
  body: any;
}

export interface Message {
  /** A header that is undefined is not sent. */
  headers?: Record<string, string | string[] | undefined>;
  /** Text and bytes are sent unchanged, other values as JSON. */
  body?: unknown;
}

/** @param base start of the address; redirects are not followed */
export async function send(
  base: string,
  method: string,
  path: string,
  { headers = {}, body }: Message = {},
): Promise<Reply> {
  const call = supertest(base)[method.toLowerCase() as 'get'](path);
  for (const [name, value] of Object.entries(headers)) {
    // supertest accepts several values, although its types do not say so.
    if (value !== undefined) void call.set(name, value as string);
  }
  if (body !== undefined) {
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
    // Bytes keep their content type and are not encoded again.
    void call.send(Buffer.from(isRaw ? body : JSON.stringify(body))).serialize((bytes) => bytes as string);
  }
  const answer = await call;
  const { status, text = '' } = answer;
  const isJson = /[/+]json\b/.test(answer.get('content-type') ?? '');
  const parse = (): unknown => (isJson ? JSON.parse(text) : text);
  return {
    status,
    headers: answer.headers,
    text,
    body: text === '' ? undefined : parse(),
  };
}
