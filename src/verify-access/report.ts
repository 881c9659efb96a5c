// Defines the report of verify-access: the chain from a push to the data that the user can read.
import type { LoadQuery } from '../platform/core-data-records.ts';
import type { AttributeValue } from '../platform/wire.ts';
import type { SecurityContext } from './security-context.ts';

export const CHAIN = ['push', 'stored', 'applied', 'visible'] as const;
export type ChainStage = (typeof CHAIN)[number];

export interface ChainLink {
  stage: ChainStage;
  /** Undefined: not checked, because an earlier link failed. */
  ok?: boolean;
  /** Time of the link, ISO 8601; for `visible` the time at which the entities were read. */
  at?: string;
  /** Milliseconds since the previous link. */
  afterMs?: number;
  /** Duration of the check, milliseconds. */
  tookMs?: number;
  /** Result of the check as a sentence. */
  detail: string;
}

/** A value whose actual state at the platform is not the desired one. */
export interface AccountDifference {
  /** `active`, a core path, `attributes.<name>` or `groups`. */
  name: string;
  desired: unknown;
  actual: unknown;
}

/** The account as read from the platform. */
export interface AccountView {
  scimId: string;
  /** Account id, under which attribute values are stored; null if the tenant has no list of accounts. */
  accountId: string | null;
  userName: string;
  active: boolean;
  /** Names of the account's groups. */
  groups: string[];
  /** Stored attribute values; attributes without value are left out. */
  attributes: Record<string, AttributeValue>;
}

export interface VisibleEntity {
  name: string;
  type: string;
  measures: number;
  dimensions: number;
}

/** `notAllowed`: the token may not query data (401, 403). `refused`: the query is invalid (400). */
export type QueryOutcome =
  | { kind: 'rows'; query: LoadQuery; rows: Record<string, unknown>[]; tookMs: number }
  | { kind: 'notAllowed' | 'refused'; query: LoadQuery; message: string }
  | { kind: 'nothingToAsk' };

export interface AccessReport {
  /** Whether every link of the chain succeeded. */
  ok: boolean;
  /** Name in the question; all other values are null if no user has it. */
  asked: string;
  person: { connection: string; target: string; ref: string; userName: string } | null;
  chain: ChainLink[];
  differences: AccountDifference[];
  account: AccountView | null;
  securityContext: SecurityContext | null;
  deployment: { id: string; name: string; environment: string } | null;
  /** Null: not read. */
  entities: VisibleEntity[] | null;
  query: QueryOutcome | null;
  /** Remarks for the reader. */
  notes: string[];
}

/** Error for an ambiguous or unanswerable question about access; the message says what to do. */
export class UnclearQuestion extends Error {
  override name = 'UnclearQuestion';
}
