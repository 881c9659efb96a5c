// Describes a parsed PATCH message: operations with one target and one value each. Operations on group members become steps
// on the set of member ids.
import type { Filter } from '../filter/filter.ts';
import type { PatchTarget } from '../path.ts';

/** Largest number of operations of a PATCH; each attribute of an operation without path counts as one. */
export const MAX_PATCH_OPERATIONS = 1000;

export type PatchMemberStep =
  | { readonly kind: 'add' | 'remove' | 'replace'; readonly values: readonly string[] }
  /** Changes nothing: the PATCH is refused with noTarget unless one of the values is a member (RFC 7644 §3.5.2.3). */
  | { readonly kind: 'expect'; readonly values: readonly string[] }
  /** Removes the members that satisfy the filter. It is evaluated on each member as `{value, type, $ref}`. */
  | { readonly kind: 'removeWhere'; readonly filter: Filter };

export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly target:
    | Exclude<PatchTarget, { kind: 'unknown' }>
    /** The members of a group; `value` is not used (members.ts). */
    | { readonly kind: 'members'; readonly steps: readonly PatchMemberStep[] };
  /** Undefined in a `remove` of all values of the target. */
  readonly value: unknown;
}

/** Returns whether an operation without filter compares the values of a list. A replacement or a removal of all values does not. */
export const comparesList = ({ op, value }: Pick<PatchOperation, 'op' | 'value'>): boolean =>
  op === 'add' || (op === 'remove' && value !== undefined);
