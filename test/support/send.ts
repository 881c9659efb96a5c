// Sends one HTTP request of a test and reads the whole answer.
import supertest from 'supertest';

export interface Reply {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** Parsed where the answer is JSON; the text otherwise; undefined when there is none. */
  body: any;
}

export interface Message {
  /** A header that is undefined is not sent. */
  headers?: Record<string, string | string[] | undefined>;
  /** Text and bytes are sent as they are, everything else as JSON. */
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
    // supertest takes several values, its types do not say so.
    if (value !== undefined) void call.set(name, value as string);
  }
  if (body !== undefined) {
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
    // As bytes, it neither gets another content type nor is it encoded once more.
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
