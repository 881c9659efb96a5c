// The records of a chat stream, what they mean together, and the settings of a session (contract 6.2, 6.3, 6.6).
import { isRecord, parseJson } from './answer.ts';
import { textId } from './readers.ts';
import type { OpenAnswer } from './streams.ts';

/** Who asks, with an API key; ignored with a token. `internalId` stands alone. */
export interface SessionSettings {
  /** Lower case, without blanks. */
  externalId?: string;
  /** E-mail or username of an internal user, whose own rights then count. */
  internalId?: string;
  email?: string;
  userAttributes?: { name: string; value: string }[];
  groups?: string[];
  securityContext?: Record<string, unknown>;
  isEphemeral?: boolean;
  ephemeralTtlSeconds?: number;
}

export interface ToolCall {
  name: string;
  /** Parsed JSON of what the tool was asked; the text itself when it is none. */
  input: unknown;
  /** Parsed JSON of what came out; absent while the tool runs. An object with `error` is a failure. */
  result?: unknown;
}

export interface ChatState {
  chatId?: string;
  isStreaming?: boolean;
  /** What came before, where the platform sends it. */
  messages?: ChatRecord[];
}

/** One line of the stream. Records of one message share an `id`; the last one is the whole of it. */
export interface ChatRecord {
  /** `__cutoff__` opens, `__state__` closes, anything else is a message. */
  id: string;
  role?: 'user' | 'assistant';
  content?: string;
  thinking?: string;
  toolCall?: ToolCall;
  graphPath?: string[];
  /** The content is a piece that continues the one before. */
  isDelta: boolean;
  isInProcess: boolean;
  isStructuredResponse?: boolean;
  sort?: number;
  state?: ChatState;
}

export const CUTOFF = '__cutoff__';
export const STATE = '__state__';

const jsonOrText = (text: unknown): unknown =>
  typeof text === 'string' ? (parseJson(text)?.value ?? text) : text;

function toToolCall(value: Record<string, unknown>): ToolCall {
  const { name, input, result } = value;
  return {
    name: typeof name === 'string' ? name : '',
    input: jsonOrText(input),
    ...(result === undefined || result === null ? {} : { result: jsonOrText(result) }),
  };
}

function toState(value: Record<string, unknown>): ChatState {
  const { chatId, isStreaming, messages } = value;
  return {
    ...(typeof chatId === 'string' ? { chatId } : {}),
    ...(typeof isStreaming === 'boolean' ? { isStreaming } : {}),
    ...(Array.isArray(messages) ? { messages: messages.flatMap(toRecords) } : {}),
  };
}

/** The record of a line, or none when it has no id: newer platforms send lines that nobody here knows (contract 0.1). */
function toRecords(value: unknown): ChatRecord[] {
  const id = isRecord(value) ? textId(value['id']) : undefined;
  if (!isRecord(value) || id === undefined) return [];
  const { role, content, thinking, toolCall, graphPath, isStructuredResponse, sort, state } = value;
  return [
    {
      id,
      ...(role === 'user' || role === 'assistant' ? { role } : {}),
      ...(typeof content === 'string' ? { content } : {}),
      ...(typeof thinking === 'string' ? { thinking } : {}),
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

/** The record of a parsed line; undefined for a line without id. */
export function toRecord(line: unknown, answer: OpenAnswer): ChatRecord | undefined {
  if (!isRecord(line)) throw answer.refuse('a line that is no object');
  return toRecords(line)[0];
}

/**
 * The final answer among the records of one turn: the last one of the assistant whose path begins with `final` and
 * has at most two steps (contract 6.3). Undefined while there is none.
 */
export function finalAnswer(records: readonly ChatRecord[]): ChatRecord | undefined {
  return records.findLast(
    ({ role, graphPath = [] }) => role === 'assistant' && graphPath[0] === 'final' && graphPath.length <= 2,
  );
}
