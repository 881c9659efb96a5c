// Formats the parts of an explanation as texts, one for each line before it is wrapped. Pure.
import type { AttributeState, Explanation, ExplanationVerdict, MembershipState } from './explanation.ts';
import { doneBy } from './done-by-hand.ts';
import { timelineLines } from './timeline-lines.ts';
import { counted } from '../support/counted.ts';
import { redisRefusalOf } from '../ops/status/fleet.ts';

const SIGNS: Record<ExplanationVerdict, string> = {
  asDesired: '✔',
  onItsWay: '…',
  held: '⏸',
  stopped: '⏸',
  needsPerson: '✘',
  leftAlone: '–',
  notForTarget: '–',
  differs: '≠',
  gone: '–',
};

/** Parts of a page, from its first line to its last; each text is one line before it is wrapped. */
export interface PageParts {
  head: string;
  summary: string;
  reasons: string[];
  /** State of the stored record. */
  stored: string;
  /** State of the account or group at the target. */
  link: string;
  values: string[];
  membershipsTitle: string;
  memberships: string[];
  /** Number of pending members that `memberships` leaves out. */
  hiddenMembers: number;
  timeline: string[];
}

/** Formats each part of an explanation. */
export function pagePartsOf(found: Explanation, { all }: { all: boolean }): PageParts {
  const { verdict, summary, reasons, kind, name, ref, connection, target, platform } = found;
  const isUnread = verdict === 'asDesired' && platform?.state === 'unread';
  return {
    head: `${kind} ${name}  (${ref}, ${connection} → ${target})`,
    summary: `${isUnread ? '?' : SIGNS[verdict]} ${summary}`,
    reasons,
    stored: `Stored: ${storedText(found)}`,
    link: `At the target: ${linkText(found)}`,
    values: byState(found.values, 'equal').map(valueLine),
    membershipsTitle: kind === 'User' ? 'Groups' : membersTitle(found),
    memberships: membershipLines(byState(found.memberships, 'applied'), found, all),
    hiddenMembers: hiddenMembersOf(found),
    timeline: timelineLines(found),
  };
}

/** Returns the items with those in the state `last`, which need no attention, at the end; otherwise the order is kept. */
const byState = <T extends { state: string }>(all: T[], last: string): T[] => [
  ...all.filter(({ state }) => state !== last),
  ...all.filter(({ state }) => state === last),
];

/**
 * Returns the stored state in words, without the times, which are in the timeline, and without `active`, which is one of the
 * values.
 */
function storedText({ stored, inScope, name, nameAtTarget }: Explanation): string {
  if (!stored) return 'deleted at the source';
  const { version, externalId } = stored;
  const meant = nameAtTarget === null || nameAtTarget === name ? '' : ` as ${nameAtTarget}`;
  return [
    `version ${version}`,
    ...(externalId === null ? [] : [`externalId ${externalId}`]),
    inScope ? `meant for this target${meant}` : 'not meant for this target',
  ].join(', ');
}

/** Returns the state of the account or group at the target in words, with the settings that decide about it, and its mark. */
function linkText(found: Explanation): string {
  const { policy, mark, fleet } = found;
  // While Redis takes no writes, a change that was handed to the queue may have no job there.
  const markWords =
    redisRefusalOf(fleet) && mark?.state === 'queued'
      ? 'a change waits until Redis takes writes'
      : mark && MARK_WORDS[mark.state];
  const marked = mark ? `; ${markWords}` : '';
  return `${storedLinkText(found)}${lookText(found)}; policy ${policy.policy}, adopt ${policy.adopt}, leavers: ${policy.deprovision}${marked}`;
}

/** Returns what the stored link says about the account or group. */
function storedLinkText(found: Explanation): string {
  const { kind, link, timeline, condition } = found;
  const { platformId, account, origin, lastWrite, departed } = link;
  const isProtected = condition?.reason === 'Protected';
  if (platformId === null)
    return isProtected
      ? 'no account is linked: the bridge does not touch a protected one'
      : `no ${kind === 'User' ? 'account' : 'group'} of this record is known there`;
  // An applied change in the timeline tells the time of the last write.
  const isInTimeline = timeline.some(({ event }) => event === 'applied');
  return [
    `id ${platformId}${account === null ? '' : `, account ${account}`}`,
    ...(origin === null ? [] : [origin === 'adopted' ? 'existed before' : 'made by the bridge']),
    ...activeTexts(found),
    ...(departed && !isProtected ? ['left by us'] : []),
    ...(lastWrite === null || isInTimeline ? [] : [`last written ${lastWrite}`]),
  ].join(', ');
}

/** Returns whether the account is active, with the backup that says so; empty if the values say it, or for a group. */
function activeTexts({ link, platform, restored, values }: Explanation): string[] {
  const { active, lastWrite } = link;
  // The values of a present resource contain `active` already.
  if (active === null || values.some(({ name }) => name === 'active')) return [];
  // Without a read or a write since the restore, `active` comes from the backup, and the account may have changed.
  const isAsOfBackup = !platform && !(lastWrite && restored && lastWrite > restored.at);
  const ofBackup = restored && isAsOfBackup ? ` in ${restored.backup}` : '';
  return [`${active ? 'active' : 'inactive'}${ofBackup}`];
}

/**
 * Returns what a look at the platform has shown, with a comma in front; '' without a look, or if it found differences. `done`: held
 * or rejected changes that the platform has already. `leftByHand`: groups that somebody took the person out of while the removal
 * waits.
 */
function lookText({ kind, platform, leftByHand, restored, fleet }: Explanation): string {
  if (!platform || platform.state === 'differs') return '';
  if (platform.state === 'unread')
    return redisRefusalOf(fleet) ? ', it was not read now' : ', it could not be read now';
  const isDone = platform.done > 0;
  if (isDone && kind === 'User') return `, read now: changed there ${doneBy({ restored })}`;
  if (isDone || (leftByHand.length > 0 && !platform.accountGone))
    return `, read now: a removal ${kind === 'User' ? 'from a group' : 'of a member'} is done there already`;
  return `, read now: ${platform.accountGone ? 'it does not exist any more' : leftText(platform)}`;
}

/** Returns in words that the account or group is as last written, or how many differences the policy leaves. */
const leftText = (platform: NonNullable<Explanation['platform']>): string =>
  platform.leftDifferences
    ? `${counted(platform.leftDifferences, 'difference')} left by the policy`
    : 'as last written';

const MARK_WORDS = {
  due: 'a change waits',
  queued: 'a change is in the queue',
  running: 'a change is being written',
};

const STATE_SIGNS: Record<AttributeState['state'], string> = {
  equal: '=',
  differs: '≠',
  unsure: '?',
  unmappable: '!',
  unmapped: '–',
  kept: '–',
};

/** Returns a value as a line: the desired one, and the last applied one (behind `←`) unless they are equal. */
function valueLine({ name, desired, applied, state, reason }: AttributeState): string {
  const wanted =
    state === 'unmappable' ? `cannot be mapped (${reason ?? 'no value'})` : JSON.stringify(desired);
  const shown = `${STATE_SIGNS[state]} ${name}: ${wanted}`;
  return state === 'equal' ? shown : `${shown} ← ${JSON.stringify(applied)}`;
}

const MEMBERSHIP_SIGNS = { applied: '=', toAdd: '+', toRemove: '-', notForTarget: '–' };

/** Returns a line for each membership, without a cause that the condition tells. A repeated cause is written only with `all`. */
const membershipLines = (
  memberships: MembershipState[],
  { condition }: Explanation,
  all: boolean,
): string[] =>
  memberships.map(({ name, state, because }, index) => {
    const isCauseLeftOut = because === undefined || because === condition?.message;
    const isRepeated = !all && because === memberships[index - 1]?.because;
    return `${MEMBERSHIP_SIGNS[state]} ${name}${isCauseLeftOut ? '' : ` (${isRepeated ? 'as above' : because})`}`;
  });

/** Returns how many pending members of a group are counted, but not described. */
function hiddenMembersOf({ members, memberships }: Explanation): number {
  const described = memberships.filter(({ state }) => state === 'toAdd' || state === 'toRemove').length;
  return members ? Math.max(0, members.toAdd + members.toRemove - described) : 0;
}

const membersTitle = ({ members }: Explanation): string =>
  members
    ? `Members not equal yet (${members.desired} desired, ${members.toAdd} to add, ${members.toRemove} to remove${members.leftOutByPolicy > 0 ? `, ${members.leftOutByPolicy} left out` : ''})`
    : 'Members not equal yet';
