// Defines the report of verify-access: the chain from a push to the data that the user can read.
import type { LoadQuery } from '../platform/core-data-records.ts';
import type { AttributeValue } from '../platform/wire.ts';
import type { SecurityContext } from './security-context.ts';

/** Stages of the chain in their order; each needs the one before. */
export const CHAIN = ['push', 'stored', 'applied', 'visible'] as const;
type ChainStage = (typeof CHAIN)[number];

/** One stage of the chain from a push to visible data, with the result of its check. */
export interface CheckedStage {
  stage: ChainStage;
  /** Undefined: not checked, because an earlier stage failed or a server did not answer. */
  ok?: boolean;
  /** Time of the stage, ISO 8601; for `visible` the time at which the entities were read. */
  at?: string;
  /** Milliseconds since the previous stage; undefined where they are not known, and for `push` and `visible`. */
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
  /** Value by the source and the settings; null: none. */
  desired: unknown;
  /** Value at the platform; null: none. */
  actual: unknown;
  /** Reason why the desired value cannot be mapped; `desired` is null then. */
  unmappable?: string;
}

/** A group or value that the bridge does not bring to the account, so that no difference of it counts. */
export interface LeftAlone {
  /** `attributes.<name>`, or the name of a group. */
  name: string;
  kind: 'group' | 'attribute';
  /**
   * `leftOut`: groups.include or groups.exclude leave the group out. `kept`: the source has no value, and `onEmpty` is `keep`.
   * `unmapped`: the attribute has left the settings, and the value that the bridge wrote stays. `policy`: the source took the
   * person out of the group, and the policy of the target leaves the membership.
   */
  why: 'leftOut' | 'kept' | 'unmapped' | 'policy';
  /** The value at the platform; of a group, whether the account is a member. */
  actual: unknown;
}

/** The account as read from the platform. */
export interface AccountView {
  /** Id of the SCIM user. */
  scimId: string;
  /** Account id, under which attribute values are stored; null if not exactly one listed account can be it. */
  accountId: string | null;
  userName: string;
  active: boolean;
  /** Names of the account's groups. */
  groups: string[];
  /** Stored attribute values; attributes without value are left out. */
  attributes: Record<string, AttributeValue>;
}

/** A cube or view of the data model that the user may query. */
export interface VisibleEntity {
  name: string;
  /** `cube` or `view`, as the platform says. */
  type: string;
  /** Numbers of measures and dimensions that the user may query. */
  measures: number;
  dimensions: number;
}

/**
 * `hidden`: no policy shows the members to this user. `attributeMissing`: a policy needs a user attribute that has no
 * usable value. `refused`: the query is invalid. `notAllowed`: the token may not query data. `modelBroken`: the data
 * model does not compile. `webPage`, `unreadable`: another server answered. `failed`: any other error of the data API.
 */
export type FailureKind =
  | 'hidden'
  | 'attributeMissing'
  | 'refused'
  | 'notAllowed'
  | 'modelBroken'
  | 'timedOut'
  | 'unreachable'
  | 'webPage'
  | 'unreadable'
  | 'failed';

export interface FailedQuery {
  kind: FailureKind;
  /** Null: the failure came before a query. */
  query: LoadQuery | null;
  /** Text of the server. */
  message: string;
  /** Effect of the failure on the access of the checked user, as a sentence for the operator. */
  meaning: string;
}

export type QueryOutcome =
  | { kind: 'rows'; query: LoadQuery; rows: Record<string, unknown>[]; tookMs: number }
  | FailedQuery
  /** No visible entity has a measure that could be asked for. */
  | { kind: 'nothingToAsk' };

/** `missing`: a stage failed. `unknown`: no stage failed, but one could not be checked. */
export type AccessResult = 'complete' | 'missing' | 'unknown';

/** Failure that ended the check: an unclear choice of the operator, the platform's API, or the data API. */
export interface AccessFault {
  at: 'choice' | 'platform' | 'data';
  message: string;
}

export interface AccessReport {
  /** Whether every stage of the chain succeeded, so that `result` is `complete`. */
  ok: boolean;
  result: AccessResult;
  /** Null if the check ran to its end. */
  fault: AccessFault | null;
  /** Name that was asked for. If no user has the name, the chain fails at `push`, and the rest is null or empty. */
  asked: string;
  /** The user whose name was asked for (`asked`), at the target that was checked; null: no user has it. */
  person: { connection: string; target: string; ref: string; userName: string } | null;
  chain: CheckedStage[];
  differences: AccountDifference[];
  /** Groups and values beside the desired ones; empty for an account that is to be closed. */
  leftAlone: LeftAlone[];
  /** Null: there is no account, or it could not be read. */
  account: AccountView | null;
  securityContext: SecurityContext | null;
  /** The deployment that was asked, and its environment; null: none was. */
  deployment: { id: string; name: string; environment: string } | null;
  /** Null: not read. */
  entities: VisibleEntity[] | null;
  /** Null: the check ended before a query. */
  query: QueryOutcome | null;
  /** Remarks for the reader. */
  notes: string[];
}

/** Error for an ambiguous or unanswerable question about access; the message says what to do. */
export class UnclearQuestion extends Error {
  override name = 'UnclearQuestion';
}
