// Is this still the tenant that our links are about? A target's address may be changed, or lead elsewhere one day. Platform
// ids mean nothing at another tenant: an account there may carry the id of somebody else, and would be renamed. Pure.

/** The linked accounts that one comparison saw. */
export interface Recognition {
  /** Linked users in all. */
  linked: number;
  /** Linked ids that carry the name or externalId of their link. */
  same: number;
  /** Linked ids that carry another name and another externalId. */
  other: number;
  /** Listed accounts that are linked to nobody of ours. */
  strangers: number;
  /** Linked users without an account whose name one of the strangers carries. */
  namesakes: number;
  /** The address is another one than the one at which the accounts were last recognised. */
  hasMoved: boolean;
}

/** Fewer accounts than this prove nothing while the address is the same. */
const FEW = 3;
/** An emptied tenant has some accounts of its own; one with more than this, and none of ours, is another. */
const MANY = 10;

/** @returns why the tenant is doubted, for an operator; undefined when it is the one that our links are about */
export function tenantDoubtOf(seen: Recognition): string | undefined {
  const { linked, same, other, strangers, namesakes, hasMoved } = seen;
  if (linked === 0) return undefined;
  if (other > same && (hasMoved || other >= FEW))
    return `${other} of ${linked} linked accounts belong to other people there`;
  if (same > 0) return undefined;
  if (hasMoved) return `its address changed, and none of ${linked} linked accounts is there`;
  const isForeign = strangers >= MANY && linked >= MANY && 2 * namesakes < strangers;
  return isForeign ? `none of ${linked} linked accounts is there, and ${strangers} others are` : undefined;
}
