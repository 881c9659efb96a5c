// Describes the report of verify-access: the chain from a push to what the person sees.
import type { LoadQuery } from '../platform/core-data-records.ts';
import type { AttributeValue } from '../platform/wire.ts';
import type { SecurityContext } from './security-context.ts';

export const CHAIN = ['push', 'stored', 'applied', 'visible'] as const;
export type ChainStage = (typeof CHAIN)[number];

export interface ChainLink {
  stage: ChainStage;
  /** Undefined: not looked at, because a link before it is missing. */
  ok?: boolean;
  /** ISO 8601: when it happened; for `visible` when it was seen. */
  at?: string;
  /** Milliseconds since the link before it. */
  afterMs?: number;
  /** How long looking took, milliseconds. */
  tookMs?: number;
  /** A sentence. */
  detail: string;
}

/** Something that the platform holds otherwise than desired. */
export interface AccountDifference {
  /** `active`, a core path, `attributes.<name>` or `groups`. */
  name: string;
  desired: unknown;
  actual: unknown;
}

/** The account as the platform shows it. */
export interface AccountView {
  scimId: string;
  /** The id that attribute values hang on; null where the tenant has no list of accounts. */
  accountId: string | null;
  userName: string;
  active: boolean;
  /** Names of the groups that it is in. */
  groups: string[];
  /** Stored values; an attribute without one is left out. */
  attributes: Record<string, AttributeValue>;
}

export interface VisibleEntity {
  name: string;
  type: string;
  measures: number;
  dimensions: number;
}

/** `notAllowed`: the token opens metadata only, or the platform says no; `refused`: the query itself is wrong. */
export type QueryOutcome =
  | { kind: 'rows'; query: LoadQuery; rows: Record<string, unknown>[]; tookMs: number }
  | { kind: 'notAllowed' | 'refused'; query: LoadQuery; message: string }
  | { kind: 'nothingToAsk' };

export interface AccessReport {
  /** Every link of the chain is there. */
  ok: boolean;
  /** The name that was asked for; the rest is null when it is unknown. */
  asked: string;
  person: { connection: string; target: string; ref: string; userName: string } | null;
  chain: ChainLink[];
  differences: AccountDifference[];
  account: AccountView | null;
  securityContext: SecurityContext | null;
  deployment: { id: string; name: string; environment: string } | null;
  /** Null: not looked at. */
  entities: VisibleEntity[] | null;
  query: QueryOutcome | null;
  /** Remarks for the reader. */
  notes: string[];
}

/** Thrown where a question about access cannot be answered as it was asked; the message says what to do. */
export class UnclearQuestion extends Error {
  override name = 'UnclearQuestion';
}
