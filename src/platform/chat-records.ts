// Defines the records of a chat stream and the settings of a session, and finds the final answer (contract 6.2, 6.3, 6.6).
import { isRecord, parseJson, textOrEmpty, textsIn, textId } from './readers.ts';
import type { OpenAnswer } from './streams.ts';

/** User of a session opened with an API key; ignored with a token. `internalId` excludes all other fields. */
export interface SessionSettings {
  /** Lower case, without spaces. */
  externalId?: string;
  /** E-mail or username of an internal user; the session then has the rights of that user. */
  internalId?: string;
  email?: string;
  userAttributes?: { name: string; value: string }[];
  groups?: string[];
  securityContext?: Record<string, unknown>;
  /** A user that the platform deletes by itself, `ephemeralTtlSeconds` after its creation. */
  isEphemeral?: boolean;
  ephemeralTtlSeconds?: number;
}

export interface ToolCall {
  /** Empty when the platform does not send it. */
  name: string;
  /** Parsed JSON input of the tool; the text itself when it is not JSON. */
  input: unknown;
  /** Parsed JSON result; absent while the tool runs. An object with `error` is a failure. */
  result?: unknown;
}

export interface ChatState {
  chatId?: string;
  isStreaming?: boolean;
  /** Earlier records of the thread, when the platform sends them. */
  messages?: ChatRecord[];
}

/** One line of the stream. Records of one message share an `id`; the last one holds the whole message. */
export interface ChatRecord {
  /** `__cutoff__` opens the stream, `__state__` closes it; other ids are messages. */
  id: string;
  role?: 'user' | 'assistant';
  content?: string;
  /** Reasoning of the agent before its answer. */
  thinking?: string;
  toolCall?: ToolCall;
  /** Steps of the agent that produced the message; the path of an answer begins with `final`. */
  graphPath?: string[];
  /** True when the content continues the previous record of the same message. */
  isDelta: boolean;
  /** True while more records of the same message follow. */
  isInProcess: boolean;
  isStructuredResponse?: boolean;
  /** Number of the record; it grows within a thread. */
  sort?: number;
  state?: ChatState;
}

/** Id of the record that opens the stream. */
export const CUTOFF = '__cutoff__';
/** Id of the record that closes the stream. */
export const STATE = '__state__';

const jsonOrText = (text: unknown): unknown =>
  typeof text === 'string' ? (parseJson(text)?.value ?? text) : text;

function toToolCall(value: Record<string, unknown>): ToolCall {
  const { name, input, result } = value;
  return {
    name: textOrEmpty(name),
    input: jsonOrText(input),
    ...(result === undefined || result === null ? {} : { result: jsonOrText(result) }),
  };
}

function toState(value: Record<string, unknown>): ChatState {
  const { isStreaming, messages } = value;
  return {
    ...textsIn(value, ['chatId']),
    ...(typeof isStreaming === 'boolean' ? { isStreaming } : {}),
    ...(Array.isArray(messages) ? { messages: messages.flatMap(toRecords) } : {}),
  };
}

/**
 * Returns a list with the record of a value, or an empty list when the value has no id: newer platforms may send
 * unknown lines (contract 0.1).
 */
function toRecords(value: unknown): ChatRecord[] {
  const id = isRecord(value) ? textId(value['id']) : undefined;
  if (!isRecord(value) || id === undefined) return [];
  const { role, toolCall, graphPath, isStructuredResponse, sort, state } = value;
  return [
    {
      id,
      ...(role === 'user' || role === 'assistant' ? { role } : {}),
      ...textsIn(value, ['content', 'thinking']),
      ...(isRecord(toolCall) ? { toolCall: toToolCall(toolCall) } : {}),
      ...(Array.isArray(graphPath) ? { graphPath: graphPath.map(String) } : {}),
      isDelta: value['isDelta'] === true,
      isInProcess: value['isInProcess'] === true,
      ...(typeof isStructuredResponse === 'boolean' ? { isStructuredResponse } : {}),
      ...(typeof sort === 'number' ? { sort } : {}),
      ...(isRecord(state) ? { state: toState(state) } : {}),
    },
  ];
}

/** Returns the record of a parsed line; undefined for a line without id. @throws PlatformDecode for a non-object */
export function toRecord(line: unknown, answer: OpenAnswer): ChatRecord | undefined {
  if (!isRecord(line)) throw answer.refuse('a line that is not an object');
  return toRecords(line)[0];
}

/**
 * Returns the final answer of one turn: the last assistant record whose path begins with `final` and has at
 * most two steps (contract 6.3); undefined when there is none yet.
 */
export function finalAnswer(records: readonly ChatRecord[]): ChatRecord | undefined {
  return records.findLast(
    ({ role, graphPath = [] }) => role === 'assistant' && graphPath[0] === 'final' && graphPath.length <= 2,
  );
}
