// The request log of the control port: what arrived, what was answered; never a header but the request id, never a secret.
import { isObject } from './json.ts';

export interface RequestEntry {
  method: string;
  path: string;
  query: string;
  /** The client's `x-request-id`; null when it sent none. */
  requestId: string | null;
  /** HTTP status; null while unanswered, and for ever when the socket was dropped or held. */
  status: number | null;
  /** Arrival on the sandbox's clock, Unix milliseconds. */
  atMs: number;
  durationMs: number | null;
  body: unknown;
}

/** Oldest entries fall out beyond this. */
const MAX_ENTRIES = 200_000;
/** Bodies are kept up to this many bytes in all, later ones are dropped. */
const MAX_BODY_BYTES = 128 * 1024 * 1024;
const SECRET_NAME = /pass|secret|token|api_?key|credential|authorization|private_?key/i;

export interface RequestLog {
  open(entry: Omit<RequestEntry, 'status' | 'durationMs' | 'body'>): RequestEntry;
  /** Attaches the parsed body of `bytes` length. */
  attach(entry: RequestEntry, body: unknown, bytes: number): void;
  entries(): RequestEntry[];
  clear(): void;
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  // A variable `{name: 'DB_PASS', value}` names its secret beside it.
  const isSecretPair = typeof value['name'] === 'string' && SECRET_NAME.test(value['name']);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      SECRET_NAME.test(name) || (isSecretPair && name === 'value') ? '[HIDDEN]' : withoutSecrets(member),
    ]),
  );
}

export function createRequestLog(): RequestLog {
  let kept: RequestEntry[] = [];
  let bodyBytes = 0;
  return {
    open(arrival) {
      const entry: RequestEntry = { ...arrival, status: null, durationMs: null, body: null };
      kept.push(entry);
      if (kept.length > MAX_ENTRIES * 1.25) kept = kept.slice(-MAX_ENTRIES);
      return entry;
    },
    attach(entry, body, bytes) {
      bodyBytes += bytes;
      if (bodyBytes <= MAX_BODY_BYTES) entry.body = body;
    },
    // Masking waits until somebody looks: a push of ten thousand members should not pay for it.
    entries: () => kept.map((entry) => ({ ...entry, body: withoutSecrets(entry.body) })),
    clear() {
      kept = [];
      bodyBytes = 0;
    },
  };
}
