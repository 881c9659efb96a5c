// Describes a parsed PATCH message: operations with one target and one value each, and set steps for group members.
import type { Filter } from '../filter/filter.ts';
import type { Target } from '../path.ts';

/** A PATCH may hold so many operations, those that a pathless object stands for included: work is bounded by it. */
export const MAX_PATCH_OPERATIONS = 1000;

export type MemberStep =
  | { readonly kind: 'add' | 'remove' | 'replace'; readonly values: readonly string[] }
  /** One of them has to be a member already, or there is no target (RFC 7644 §3.5.2.3). */
  | { readonly kind: 'expect'; readonly values: readonly string[] }
  /** The filter is about one member: evaluate it on `{value, type, $ref}`. */
  | { readonly kind: 'removeWhere'; readonly filter: Filter };

export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly target:
    | Exclude<Target, { kind: 'unknown' }>
    /** Group members: see `splitMembers`. */
    | { readonly kind: 'members'; readonly steps: readonly MemberStep[] };
  /** Undefined for a removal of everything at the target. */
  readonly value: unknown;
}
