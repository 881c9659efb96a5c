// Defines every setting of the control port and the decisions where the platform's documents are silent
// (contract 13). A fact that is learned later at a real tenant changes one line in this file.
import { isJsonObject, own, type SandboxJsonObject } from './json.ts';
import { SandboxProblem } from './problem.ts';

export interface SandboxSettings {
  /** Features that the tenant has bought; `hosted`: the vendor runs the platform (contract 1.1, 4.0, 4.6, 6.1). */
  readonly plan: Readonly<Record<'chat' | 'audit' | 'scim' | 'hosted', boolean>>;
  /** Whether the audit log can be exported; off = 403 (ASSUMED-67). */
  readonly auditLogEnabled: boolean;
  /** Whether SCIM is enabled in the tenant; off = 403 (ASSUMED-33). */
  readonly scimEnabled: boolean;
  /** Role of users that SCIM creates or that have no role; unknown names fall back to Viewer (contract 2.2). */
  readonly defaultRole: string;
  /** Roles that members of a group get: display name of the group, in any letter case, to role names (ASSUMED-103). */
  readonly groupsRolesMap: Readonly<Record<string, readonly string[]>>;
  /** Largest nesting depth of folders (ASSUMED-72). */
  readonly maxFolderDepth: number;
  /** Lowers the longest `expires_in` of meta-sync tokens to 3600 seconds (ASSUMED-56). */
  readonly vendorTokenCap: boolean;
  /** Whether Platform REST refuses the scheme `Api-Key`, so that only `Bearer` is left (ASSUMED-01). */
  readonly strictAuthScheme: boolean;
  /** Whether SCIM ids are UUIDs or the platform's own numbers (ASSUMED-48). */
  readonly scimIdStyle: 'uuid' | 'numeric';
  /** Page length when the client names none (contract 8, ASSUMED-25). */
  readonly pageDefault: number;
  /** Longer pages are lowered to this (ASSUMED-26). */
  readonly pageCap: number;
  /** Whether ids in an upsert of attribute values must be text; numbers are then refused (ASSUMED-41). */
  readonly strictValueIds: boolean;
  /** Largest number of ids in a bulk call (contract 8). */
  readonly bulkLimit: number;
  /** Largest number of events that the audit log shows (contract 4.6). */
  readonly auditRetentionEvents: number;
  /** Days for which an export shows audit events; 0 = no limit, so that tests may use fixed dates (contract 4.6 says 30). */
  readonly auditRetentionDays: number;
  /** Pause before every chat record, milliseconds of real time. */
  readonly chatRecordDelayMs: number;
  /** Whether chat records carry `thinking`, which the platform shows in development mode only (contract 6.3). */
  readonly chatDevelopmentMode: boolean;
  /** Largest number of persistent external users of chat (contract 8). */
  readonly externalUserLimit: number;
  /** Delay that is added to every JSON query, milliseconds; simulates a slow warehouse (contract 5.1). */
  readonly dataQueryDelayMs: number;
  /** A JSON query that takes longer than this returns `Continue wait`, milliseconds. */
  readonly dataContinueWaitMs: number;
  /** Time limit of a query at the engine, milliseconds. */
  readonly dataQueryTimeoutMs: number;
  /** Rows of a JSON query without `limit`. */
  readonly dataRowDefault: number;
  /** Largest `limit` of a JSON query, which is refused above it (contract 5.1); also the most rows of an SQL query. */
  readonly dataRowCap: number;
  /** SQL streams fail after this many rows; null = no failure (row DATA-13 of docs/platform-coverage.md). */
  readonly sqlFailAfterRows: number | null;
}

/** Role of new users when the configured one cannot be used (contract 2.2). */
export const FALLBACK_ROLE = 'Viewer';
/** Pattern of attribute names (ASSUMED-40). */
export const ATTRIBUTE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Group names with this prefix are reserved by the platform (ASSUMED-18). */
export const RESERVED_GROUP_PREFIX = 'system:';
/** Built-in roles (contract 3.5); their ids are 1, 2, ... in this order, custom roles follow. */
export const BUILT_IN_ROLES = ['Admin', 'Developer', 'Explorer', 'Viewer'] as const;
/** Name of the container image of deployments; versions are shown as `<image>:v<version>` (ASSUMED-62). */
export const RUNTIME_IMAGE = 'platform/runtime';
/**
 * Default and longest lifetime of a meta-sync token in seconds; the setting `vendorTokenCap` lowers it to the second
 * value (ASSUMED-56).
 */
export const META_TOKEN_DEFAULT_SECONDS = 86_400;
export const META_TOKEN_VENDOR_SECONDS = 3600;
/** Port of the SQL protocol in environments; the sandbox does not serve it. */
export const SQL_PORT = 15_432;

/** Default lifetime of an external chat user, seconds: seven days (contract 8). */
export const EPHEMERAL_TTL_SECONDS = 604_800;
/** Form of a `messageId` in chat (contract 8). */
export const CHAT_MESSAGE_ID = /^\d{13,}-message$/;
/** Code of the JSON-RPC error for invalid chat credentials (ASSUMED-83). */
export const CHAT_UNAUTHORIZED_CODE = -32_001;
/** Rows in a tool result (contract 8); `totalRows` counts all. */
export const CHAT_TOOL_ROWS = 100;
/** The error line of a busy thread (contract 6.4, ASSUMED-92). */
export const CHAT_BUSY = 'Streaming for thread is in progress';
/**
 * Error line of a running answer whose user is deactivated, deleted or expired, or whose session was opened by an
 * API key of such a user. A `__state__` without messages follows it. Decided here, not in the contract.
 */
export const CHAT_LEFT = 'The user no longer has access';
/**
 * Longest `ephemeralTtlSeconds`, a hundred years, because JavaScript cannot represent dates far in the future.
 * Decided here, not in the contract.
 */
export const CHAT_LONGEST_TTL_SECONDS = 100 * 366 * 86_400;
/**
 * Longest `input` in characters; longer text is refused with 400, because threads are stored in memory. Decided
 * here, not in the contract.
 */
export const CHAT_LONGEST_INPUT = 100_000;
/**
 * Number of newest threads that are always kept. With a tenth more, older threads without a running answer are removed. Decided
 * here, not in the contract.
 */
export const CHAT_THREADS_KEPT = 10_000;
/** Number of newest messages that a thread keeps. Decided here, not in the contract. */
export const CHAT_MESSAGES_KEPT = 1_000;

export const DEFAULT_SETTINGS: SandboxSettings = {
  plan: { chat: true, audit: true, scim: true, hosted: true },
  auditLogEnabled: true,
  scimEnabled: true,
  defaultRole: FALLBACK_ROLE,
  groupsRolesMap: {},
  maxFolderDepth: 10,
  vendorTokenCap: false,
  strictAuthScheme: false,
  scimIdStyle: 'uuid',
  pageDefault: 20,
  pageCap: 1000,
  strictValueIds: false,
  bulkLimit: 100,
  auditRetentionEvents: 10_000,
  auditRetentionDays: 0,
  chatRecordDelayMs: 0,
  chatDevelopmentMode: true,
  externalUserLimit: 10_000,
  dataQueryDelayMs: 0,
  dataContinueWaitMs: 5000,
  dataQueryTimeoutMs: 5000,
  dataRowDefault: 10_000,
  dataRowCap: 50_000,
  sqlFailAfterRows: null,
};

type Check = (value: unknown) => boolean;
const isFlag: Check = (value) => typeof value === 'boolean';
const isCount: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const isTextList: Check = (value) => Array.isArray(value) && value.every((item) => typeof item === 'string');

/** Checks of settings that need more than the type of their default; all others are flags or counts. */
const CHECKS: Readonly<Partial<Record<string, Check>>> = {
  plan: (value) =>
    isJsonObject(value) &&
    Object.entries(value).every(([name, on]) => Object.hasOwn(DEFAULT_SETTINGS.plan, name) && isFlag(on)),
  // Admin is never a valid default (contract 2.2, row ROLE-10 of docs/platform-coverage.md).
  defaultRole: (value) => typeof value === 'string' && value !== '' && value.toLowerCase() !== 'admin',
  groupsRolesMap: (value) => isJsonObject(value) && Object.values(value).every(isTextList),
  scimIdStyle: (value) => value === 'uuid' || value === 'numeric',
  pageCap: (value) => isCount(value) && value !== 0,
  dataQueryTimeoutMs: (value) => isCount(value) && value !== 0,
  sqlFailAfterRows: (value) => value === null || isCount(value),
};

/**
 * Returns `current` with the named settings replaced (`plan` flag by flag); unknown names and invalid values
 * are 400.
 */
export function changeSettings(current: SandboxSettings, changes: SandboxJsonObject): SandboxSettings {
  for (const [name, value] of Object.entries(changes)) {
    const known = own({ ...DEFAULT_SETTINGS }, name);
    if (known === undefined) throw new SandboxProblem(400, `Unknown setting: ${name}`);
    const fits = CHECKS[name] ?? (typeof known === 'boolean' ? isFlag : isCount);
    if (!fits(value)) throw new SandboxProblem(400, `Setting ${name} cannot take this value`);
  }
  const plan = own(changes, 'plan');
  return { ...current, ...changes, plan: { ...current.plan, ...(isJsonObject(plan) ? plan : {}) } };
}
