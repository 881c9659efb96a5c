// Converts what was read at the platform to sentences: differences, default values, and memberships that the bridge leaves
// there. Pure.
import type { ExplainedFacts, PlatformDifference } from './explanation.ts';
import { counted } from '../support/counted.ts';
import { MOST_NAMED, someOf } from '../support/sentence-parts.ts';

/** Returns the sentences about the read of the platform; none when it was not read. */
export const platformReasons = (facts: ExplainedFacts): (string | undefined)[] => [
  facts.platform?.why ? `The last read failed: ${facts.platform.why}.` : undefined,
  ...differenceReasons(facts),
  ...(facts.platform?.defaults ?? []).map((sentence) => `${sentence}.`),
  addedReason(facts),
  leftOutReason(facts),
  leftByPolicyReason(facts),
];

function differenceReasons({ platform }: ExplainedFacts): string[] {
  const all = platform?.differences ?? [];
  const withoutDefinition = new Set(all.filter(lacksDefinition).map(({ subject }) => subject));
  // A value whose attribute has no definition cannot exist, so only the missing definition is told.
  const found = all.filter((each) => lacksDefinition(each) || !withoutDefinition.has(each.subject));
  const sentences = found
    .slice(0, MOST_NAMED)
    .map(({ subject, reason }) => `At the platform${subject === null ? '' : `, ${subject}`}: ${reason}.`);
  const left = found.length - MOST_NAMED;
  return left > 0 ? [...sentences, `${counted(left, 'difference')} more at the platform.`] : sentences;
}

/** Returns whether the platform has no definition of a mapped attribute. */
const lacksDefinition = ({ action }: PlatformDifference): boolean => action === 'defineAttribute';

/**
 * Returns a sentence about memberships that this connection does not manage now, and that the bridge therefore leaves. Another
 * connection may manage them. They give access too.
 */
function addedReason({ platform, kind, restored, condition }: ExplainedFacts): string | undefined {
  const added = platform?.addedByOthers ?? [];
  if (added.length === 0) return undefined;
  if (condition?.reason === 'Protected')
    return `At the platform it is in ${counted(added.length, 'group')}, which the bridge leaves because the person is protected: ${someOf(added)}.`;
  const more = counted(added.length, kind === 'User' ? 'group' : 'member');
  const author = restored
    ? `others, or the bridge between ${restored.backup} and the restore, wrote, and which the bridge leaves`
    : 'the bridge does not manage through this connection now and leaves';
  return kind === 'User'
    ? `At the platform it is in ${more} more, which ${author}: ${someOf(added)}.`
    : `At the platform it has ${more} more, which ${author}: ${someOf(added)}.`;
}

/**
 * Returns a sentence about memberships in groups that the settings leave out: they give access too, and no change of the members at
 * the source ends them.
 */
function leftOutReason({ platform }: ExplainedFacts): string | undefined {
  const groups = platform?.leftOutGroups ?? [];
  if (groups.length === 0) return undefined;
  return `At the platform it is also in ${counted(groups.length, 'group')} that the settings leave out (groups.include, groups.exclude): ${someOf(groups)}. ${groups.length === 1 ? 'This membership stays' : 'These memberships stay'} until somebody ends ${groups.length === 1 ? 'it' : 'them'} at the platform, or the source deletes the group.`;
}

/** Returns a sentence about memberships that stay because of the policy of the target: they give access too. */
function leftByPolicyReason({ platform, kind, policy }: ExplainedFacts): string | undefined {
  const stays = platform?.leftByPolicy ?? [];
  if (stays.length === 0) return undefined;
  return kind === 'User'
    ? `At the platform it is still in ${counted(stays.length, 'group')} against the source, which the policy ${policy.policy} leaves: ${someOf(stays)}.`
    : `At the platform it still has ${counted(stays.length, 'member')} against the source, whom the policy ${policy.policy} leaves: ${someOf(stays)}.`;
}
