// Defines what a comparison knows of one user, and the fields that all plan entries of the user share. Pure.
import type { Link } from '../../directory/outbox/link.ts';
import type { Ref } from '../../directory/records.ts';
import type { UserAttributeType, WireUser } from '../../platform/wire.ts';
import type { SyncPolicy } from '../../sync/target.ts';
import type { DesiredAccount } from './compare.ts';
import type { Basis, Cause, PlanEntry } from '../entry.ts';
import type { ComparedAttributes } from './shown-attributes.ts';
import type { Namesake } from './strangers.ts';

/** Stored state of a user, and the observed account. */
export interface UserCase {
  ref: Ref;
  link: Link;
  basis: Basis;
  /** Whether the user has a mark, so that a sync of the user is due or under way. */
  marked: boolean;
  /** Desired state mapped from the record; undefined: the source deleted the user, or the record is damaged. */
  wanted: DesiredAccount | undefined;
  /** When the source deleted the user, Unix milliseconds; undefined: it did not, or the tombstone was not read. */
  deletedAt?: number | undefined;
  /** Time of the deletion, with the wait for a handover (`deletionTime`), Unix milliseconds; undefined: never, or not read. */
  deleteAt?: number | undefined;
  /** Undefined: the platform does not have the account. */
  observed: WireUser | undefined;
  /** Attribute values of the value list; undefined when only the SCIM answer was read. */
  values?: ReadonlyMap<string, unknown> | undefined;
  /** Numeric account id that the platform shows now, if it differs from the stored one (`Link.account`). */
  otherNumber?: string | undefined;
  /** An unmanaged account, or one of a deleted user, with the externalId or userName of a user without account. */
  namesake?: Namesake | undefined;
  /** Why the sync will refuse the account that it finds: another connection is linked to it. */
  takenBy?: string | undefined;
  /** The account of `namesake` with all its values, read when it may be adopted. */
  adoptable?: AdoptableAccount | undefined;
}

/** An account that the sync may adopt. */
export interface AdoptableAccount {
  account: WireUser;
  /** Attribute values that were read; null: unset. */
  values: Record<string, unknown>;
}

/** Settings of the target, and what its lists show, by which differences become entries. */
export interface TargetRules {
  policy: SyncPolicy;
  types: Record<string, UserAttributeType>;
  visibility: ComparedAttributes;
  /** Time of the comparison, Unix milliseconds. */
  now: number;
}

/** Returns the userName: the desired one, or the last known; '' if neither is known. */
const nameOf = ({ link, observed, wanted }: UserCase): string =>
  String(wanted?.core.userName ?? observed?.userName ?? link.core?.userName ?? '');

/** Returns the fields that all entries of a user share. */
export function userFields(
  user: UserCase,
  cause: Cause,
): Omit<PlanEntry, 'action' | 'before' | 'after' | 'reason'> {
  return {
    kind: 'User',
    ref: user.ref,
    platformId: user.link.id ?? null,
    name: nameOf(user),
    effect: 'apply',
    attribution: { cause },
    basis: user.basis,
  };
}

/** Stands in a plan for a secret value, which cannot be compared. */
export const MASKED = '[hidden]';

/** Masks values of attributes with secret names, as the platform does (contract 12.9). */
export const masked = (attribute: string, value: unknown): unknown =>
  value !== null && /pass|secret|token|key/i.test(attribute) ? MASKED : value;
