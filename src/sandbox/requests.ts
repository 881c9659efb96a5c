// Stores the requests to the platform with their status and bodies, which the control port lists. Of the headers only the
// request id is stored; secrets in bodies are masked when the log is read.
import { isJsonObject } from './json.ts';

export interface RequestEntry {
  method: string;
  path: string;
  query: string;
  /** The client's `x-request-id`; null without one. */
  requestId: string | null;
  /** HTTP status; null while unanswered, and permanently when the socket was dropped or held. */
  status: number | null;
  /** Time at which the request arrived, by the sandbox's clock, Unix milliseconds. */
  atMs: number;
  /** Null until the answer is sent or the socket is closed. */
  durationMs: number | null;
  /** Parsed JSON; null without a body, and beyond MAX_BODY_BYTES. */
  body: unknown;
}

/** Number of newest entries that are always kept; older ones are removed when there are more than 1.25 times as many. */
const MAX_ENTRIES = 200_000;
/** Largest total size of the stored bodies; after that, entries have no body until the log is cleared. */
const MAX_BODY_BYTES = 128 * 1024 * 1024;
const SECRET_NAME = /pass|secret|token|api_?key|credential|authorization|private_?key/i;

export interface RequestLog {
  open(entry: Omit<RequestEntry, 'status' | 'durationMs' | 'body'>): RequestEntry;
  /** Stores the parsed body of `bytes` length with the entry, unless the bodies would exceed MAX_BODY_BYTES. */
  attach(entry: RequestEntry, body: unknown, bytes: number): void;
  entries(): RequestEntry[];
  clear(): void;
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isJsonObject(value)) return value;
  // In a variable such as `{name: 'DB_PASS', value}` the name tells that the value is secret.
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
    // Secrets are masked when the log is read, because masking large bodies at each request is expensive.
    entries: () => kept.map((entry) => ({ ...entry, body: withoutSecrets(entry.body) })),
    clear() {
      kept = [];
      bodyBytes = 0;
    },
  };
}
