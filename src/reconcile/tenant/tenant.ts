// Decides whether a target still is the tenant of its links. At another tenant the same platform id may belong to another
// person, whose account would then be renamed. Pure.
import { tenantAdvice } from '../../directory/guard/operator-hold.ts';
import type { Unrecognised } from '../../directory/outbox/recognition.ts';

/** Counts of accounts in one comparison, by their links. */
export interface Recognition {
  /** Number of linked users. */
  linked: number;
  /** Linked accounts with the userName or externalId of their link. */
  same: number;
  /** Linked accounts with another userName and another externalId. */
  other: number;
  /** Listed accounts without a link. */
  strangers: number;
  /** Linked users whose account is gone while an account without link has their name. */
  namesakes: number;
  /** Whether the address changed since the tenant was last recognised. */
  hasMoved: boolean;
}

/** Smallest `other` that shows another tenant at an unchanged address: one or two accounts may have been changed by hand. */
const FEW = 3;
/**
 * With at least this many links, none of whose accounts is there, and at least this many other accounts, the address may lead to
 * another tenant. The same tenant after a clean-out would show fewer accounts.
 */
const MANY = 10;

/**
 * Returns a sentence for the operator why the address may lead to another tenant; undefined: it is the same tenant, or the counts
 * do not tell.
 */
export function whyAnotherTenant(seen: Recognition): string | undefined {
  const { linked, same, other, strangers, namesakes, hasMoved } = seen;
  // Without links there are no accounts by which the tenant could be recognised.
  if (linked === 0 && same + other === 0) return undefined;
  if (other > same && (hasMoved || other >= FEW))
    // Accounts of deleted users are seen too, but not counted as linked.
    return `${other} of ${Math.max(linked, same + other)} linked accounts belong to other people there`;
  // One linked account that is there proves the tenant.
  if (same > 0) return undefined;
  if (hasMoved) return `its address changed, and none of ${linked} linked accounts is there`;
  // Users who were deleted and made again under their names are no sign of another tenant.
  const isForeign = strangers >= MANY && linked >= MANY && 2 * namesakes < strangers;
  return isForeign ? `none of ${linked} linked accounts is there, and ${strangers} others are` : undefined;
}

/**
 * Returns a text for an operator: a target's new address holds back all writes, and what ends this. A worker looks for a few linked
 * accounts (sync/calls/recognise.ts), a reconcile for all.
 */
export const movedText = (target: string): string =>
  `the address of ${target} changed, and nothing is written before a worker or scim-bridge reconcile --target ${target} finds a linked account there`;

/** Returns for an operator what is suspected about a target, and what to do in both cases. @param why of `whyAnotherTenant` */
export const anotherTenantText = (target: string, why: string): string =>
  `${target} may be another tenant: ${why}. Nothing is written there. ${tenantAdvice(target)}.`;

/** Returns that the tenant was accepted by another connection during a run, which therefore ends without a write. */
export const acceptedMeanwhileText = (target: string): string =>
  `another connection accepted the tenant of ${target} during this run: the next reconcile compares with it`;

/** Returns a text for an operator: a target was not read, because of its new address or a possible other tenant. */
export const unreadText = (target: string, why: Unrecognised): string =>
  why === 'tenant'
    ? `${target} may be another tenant and was not read`
    : `${target} was not read at its new address`;

/** Returns `unreadText`, and what ends this state. */
export const unrecognisedText = (target: string, why: Unrecognised): string =>
  `${unreadText(target, why)}: ${why === 'tenant' ? tenantAdvice(target) : movedText(target)}`;
