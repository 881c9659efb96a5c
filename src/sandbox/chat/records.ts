// Defines the immutable records of chat: threads with messages, agents with scripts, external users.
import type { SandboxJsonObject } from '../json.ts';
import type { StoredAttributeValue } from '../records.ts';

interface ToolCallRecord {
  readonly name: string;
  /** Input as JSON text. */
  readonly input: string;
  /** Result as JSON text; absent while the call runs. */
  readonly result?: string;
}

/** One streamed record of a message (contract 6.3). */
export interface MessageRecord {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** Reasoning of the agent; in development mode only. */
  readonly thinking?: string;
  readonly toolCall?: ToolCallRecord;
  /** Nodes of the agent that made the record; `['final']` = the answer itself. Absent for messages of the user. */
  readonly graphPath?: readonly string[];
  /** True when `content` is an increment, not the whole text. */
  readonly isDelta: boolean;
  /** True while further records of the message or tool call follow. */
  readonly isInProcess: boolean;
  /** Always false here: the sandbox's agent answers in text. */
  readonly isStructuredResponse?: boolean;
  /** Position in the thread; it rises with every record (ASSUMED-90). */
  readonly sort: number;
}

/** `ended`: the user lost access, or the sandbox stopped. `failed`: an error of the agent. */
export type RunOutcome = 'streaming' | 'completed' | 'aborted' | 'failed' | 'ended';

/** A data query of a run, for assertions; contains the fingerprint of the token instead of the token. */
export interface QueryNote {
  readonly sqlQuery: string;
  readonly branchName: string;
  /** Null with an API key. */
  readonly tokenFingerprint: string | null;
  readonly securityContext: unknown;
}

/** One turn of a thread: a user message and the result of its run. `messageId` null = the client sent none. */
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
  /** Name of the API key that opened the thread; null with a token. */
  readonly keyName: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Highest `sort` used so far. */
  readonly lastSort: number;
  /** Finished messages in order. */
  readonly messages: readonly MessageRecord[];
  readonly runs: readonly RunNote[];
}

/** A user who exists in chat only (contract 6.7) and is not a SCIM user (ASSUMED-99). */
export interface ExternalUserRecord {
  readonly id: number;
  readonly externalId: string;
  readonly email: string | null;
  readonly isEphemeral: boolean;
  /** Null = no expiry. */
  readonly expiresAtMs: number | null;
  readonly groups: readonly string[];
  readonly userAttributes: Readonly<Record<string, StoredAttributeValue>>;
  readonly securityContext: SandboxJsonObject;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number;
}

/** Test behaviour of an agent; with an empty script the agent answers from the data. */
export interface AgentScript {
  /** Replaces the setting `chatRecordDelayMs`: pause before each record, milliseconds of real time. */
  readonly recordDelayMs?: number;
  /** Error text of every data query, inside the tool result. */
  readonly toolError?: string;
  /** Error line that ends the run after its tool calls. */
  readonly failure?: string;
  /** Query that runs instead of selecting members. */
  readonly sqlQuery?: string;
  /** Records with a graph path, sent in order after the answer, to test how clients find the final one. */
  readonly finals?: readonly { readonly content: string; readonly graphPath: readonly string[] }[];
}

export interface AgentRecord {
  readonly id: number;
  readonly agentId: string;
  readonly deploymentId: string;
  readonly script: AgentScript;
}
