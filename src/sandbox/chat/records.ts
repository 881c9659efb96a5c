// What chat remembers: threads with their messages, agents with their scripts, external users. Records never change.
import type { JsonObject } from '../json.ts';
import type { AttributeValue } from '../records.ts';

export interface ToolCall {
  readonly name: string;
  /** JSON text. */
  readonly input: string;
  /** JSON text; absent while the call runs. */
  readonly result?: string;
}

/** One streamed record of a message, without the special ones (contract 6.3). */
export interface MessageRecord {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly thinking?: string;
  readonly toolCall?: ToolCall;
  readonly graphPath?: readonly string[];
  readonly isDelta: boolean;
  readonly isInProcess: boolean;
  readonly isStructuredResponse?: boolean;
  readonly sort: number;
}

export type RunOutcome = 'streaming' | 'completed' | 'aborted' | 'failed' | 'ended';

/** A data query that a run made, for assertions; no token, only its fingerprint. */
export interface QueryNote {
  readonly sqlQuery: string;
  readonly branchName: string;
  /** Null with an API key. */
  readonly tokenFingerprint: string | null;
  readonly securityContext: unknown;
}

/** One turn of a thread: a user message and what came of it. */
export interface RunNote {
  readonly messageId: string | null;
  readonly agentId: string;
  readonly branchName: string;
  readonly isDefaultBranch: boolean;
  readonly startedAtMs: number;
  readonly outcome: RunOutcome;
  readonly queries: readonly QueryNote[];
}

export interface ThreadRecord {
  readonly id: number;
  readonly chatId: string;
  readonly deploymentId: string;
  /** `external:<external id>` or `internal:<user id>`. */
  readonly owner: string;
  /** Name of the API key that opened it; null with a token. */
  readonly keyName: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Highest `sort` given out. */
  readonly lastSort: number;
  /** Finished messages in order. */
  readonly messages: readonly MessageRecord[];
  readonly runs: readonly RunNote[];
}

/** A person who exists in chat only (contract 6.7); never a SCIM user (ASSUMED-99). */
export interface ExternalUserRecord {
  readonly id: number;
  readonly externalId: string;
  readonly email: string | null;
  readonly isEphemeral: boolean;
  /** Null = kept for good. */
  readonly expiresAtMs: number | null;
  readonly groups: readonly string[];
  readonly userAttributes: Readonly<Record<string, AttributeValue>>;
  readonly securityContext: JsonObject;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number;
}

/** How an agent behaves in tests; an empty script is the agent that really answers. */
export interface AgentScript {
  /** Pause before each record instead of the setting `chatRecordDelayMs`, milliseconds of real time. */
  readonly recordDelayMs?: number;
  /** Every data query fails with this text, inside the tool result. */
  readonly toolError?: string;
  /** The run breaks with this error line after its tool calls. */
  readonly failure?: string;
  /** Runs this query instead of picking members. */
  readonly sqlQuery?: string;
  /** Records with a graph path, sent after the answer, in order; which is final the client must find out. */
  readonly finals?: readonly { readonly content: string; readonly graphPath: readonly string[] }[];
}

export interface AgentRecord {
  readonly id: number;
  readonly agentId: string;
  readonly deploymentId: string;
  readonly script: AgentScript;
}
