// Notes in a link the desired values that its account or group has already, although no sync wrote them. This happens after a
// change of the mapping rules to values that somebody had set at the platform, and after a restore of an older link. A sync writes
// only values that differ from the link, so without the note a later change back to the value in the link would never be written.
// Pure.
import { isUnconditional, toLinkText, type Link } from '../../directory/outbox/link.ts';
import type { AppliedLink } from '../../directory/outbox/drift.ts';
import type { UserAttributeType } from '../../platform/wire.ts';
import { isEmpty, LISTED, noteWrittenCore } from '../../sync/diff.ts';
import { changedSinceApplied, observedValue, type ObservedAccount } from './compare.ts';
import type { GroupCase } from './group-case.ts';
import type { UserCase } from './user-case.ts';

/**
 * Returns the link of a user without difference, with all desired values as applied.
 * @param account without `values` an empty value is not proven, because a list may leave it out
 * @returns undefined: the link has the desired values, or a sync decides about the person; `unproven`: not all values were read
 */
export function userAsApplied(
  { ref, link, basis, marked, wanted }: Pick<UserCase, 'ref' | 'link' | 'basis' | 'marked' | 'wanted'>,
  account: ObservedAccount,
  types: Record<string, UserAttributeType>,
  now: number,
): AppliedLink | 'unproven' | undefined {
  if (marked || !isUnconditional(link) || link.leftOpen || wanted?.inScope !== true) return undefined;
  const isChanged = changedSinceApplied(link, wanted);
  const paths = Object.keys(wanted.core).filter(isChanged);
  const names = Object.keys(wanted.attributes).filter(
    (name) => types[name] !== undefined && isChanged(`attributes.${name}`),
  );
  const isActiveChanged = isChanged('active');
  if (paths.length + names.length === 0 && !isActiveChanged) return undefined;

  const { user, values } = account;
  const isShown = (name: string): boolean => {
    const type = types[name];
    const isListed = type !== undefined && LISTED.has(type);
    return isListed && !isEmpty(observedValue(account, `attributes.${name}`, types));
  };
  const isEmptied = paths.some((path) => wanted.core[path] == null);
  const areValuesProven = values !== undefined || (names.every(isShown) && !isEmptied);
  if (!areValuesProven || user.active === undefined) return 'unproven';

  const applied: Link = { ...link, attributes: { ...link.attributes } };
  noteWrittenCore(applied, wanted.core);
  for (const name of names) applied.attributes = { ...applied.attributes, [name]: wanted.attributes[name] };
  if (isActiveChanged) {
    applied.core = { ...applied.core, active: wanted.active };
    if (wanted.active) delete applied.closedAt;
    else applied.closedAt = now;
  }
  return { ref, version: basis.version, link: basis.link, text: toLinkText(applied) };
}

/**
 * Returns the link of a group without difference, with the desired name as applied; undefined: the link has the name, a sync is
 * due, or the link has no name to compare.
 */
export function groupAsApplied({ ref, link, basis, marked, wantedName }: GroupCase): AppliedLink | undefined {
  const hasName = wantedName === undefined || link.core?.displayName === wantedName;
  // A link that a repair restored contains only the id.
  if (marked || hasName || !isUnconditional(link) || link.core?.displayName === undefined) return undefined;
  const applied: Link = { ...link, core: { ...link.core, displayName: wantedName } };
  return { ref, version: basis.version, link: basis.link, text: toLinkText(applied) };
}
