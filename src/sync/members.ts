// Member changes of one group in portions that the platform takes.
import type { Link } from '../directory/links.ts';
import type { Readiness } from '../directory/outbox.ts';
import { fold, refOf } from '../directory/records.ts';
import type { PatchOperation, WireGroup } from '../platform/wire.ts';
import type { SyncContext } from './context.ts';
import { isGone, isStatus } from './failures.ts';

/** Some platforms take no more than this in one PATCH; refused portions are halved. */
const PORTION = 100;
/** A first load brings members one by one: they are sent together, at the latest after this time. */
const GATHER_LIMIT_MS = 3000;

interface Member {
  user: string;
  /** The user's SCIM id at the platform. */
  platformId: string;
}

/** Takes members away that the source no longer has. Never waits for anything: less access is always safe. */
export async function removeMembers(context: SyncContext): Promise<void> {
  const { outbox, links, target, work } = context;
  const users = await marked(context, '-');
  for (const portion of portions(users, PORTION)) {
    const found = await links.getMany(
      target.name,
      portion.map((user) => refOf('User', user)),
    );
    const members = portion.flatMap((user, index) => {
      const platformId = found[index]?.id;
      return platformId === undefined || isProtected(context, found[index]) ? [] : [{ user, platformId }];
    });
    // A user without an account has no membership there either; protected ones keep theirs.
    const unknown = portion.filter((user) => !members.some((member) => member.user === user));
    if (unknown.length > 0) await outbox.ackMembers(work, '-', unknown);
    await send(context, '-', members);
    warnOfRoles(context, String(context.link.core?.displayName));
  }
}

const isProtected = ({ target }: SyncContext, link: Link | undefined): boolean => {
  const name = fold(String(link?.core?.userName ?? ''));
  return target.policy.users.protected.some((each) => fold(each) === name);
};

/** The platform gives roles by group name and never takes them away again (contract 12.6). */
export function warnOfRoles({ target, logger, work }: SyncContext, ...names: string[]): void {
  const mapped = Object.keys(target.policy.groupsRolesMap).map(fold);
  if (names.some((name) => mapped.includes(fold(name)))) {
    logger.warn(
      { ref: work.ref },
      'this group carries roles: those already given remain, take them away by hand',
    );
  }
}

/**
 * Adds members whose attributes are in place; the others mark this group again when they are ready.
 * @returns `gatherMs`: how long to wait for a portion that is still filling up; `missing`: members on their way
 */
export async function addMembers(context: SyncContext): Promise<{ gatherMs: number; missing: number }> {
  const { link, clock, outbox } = context;
  const states: Readiness[] = [];
  for (const portion of portions(await marked(context, '+'), 1000))
    states.push(...(await outbox.readiness(portion)));
  const ready = states.filter((state) => state.ready);
  const missing = states.filter((state) => !state.ready && state.underWay).length;
  if (ready.length > 0 && ready.length < PORTION && missing > 0) {
    link.gatheringSince ??= clock.now();
    const left = link.gatheringSince + GATHER_LIMIT_MS - clock.now();
    if (left > 0) return { gatherMs: left, missing };
  }
  delete link.gatheringSince;
  for (const portion of portions(ready, PORTION)) {
    await send(
      context,
      '+',
      portion.map((state) => ({ user: state.user, platformId: state.link.id ?? '' })),
    );
  }
  return { gatherMs: 0, missing };
}

async function marked(context: SyncContext, sign: '+' | '-'): Promise<string[]> {
  const marks = await context.outbox.memberMarks(context.work.id);
  return [...marks].filter(([, each]) => each === sign).map(([user]) => user);
}

async function send(context: SyncContext, sign: '+' | '-', members: Member[]): Promise<void> {
  if (members.length === 0) return;
  const { target, link, outbox, work } = context;
  const operations = sign === '+' ? additions(members) : removals(members);
  try {
    const group = await context.write(sign === '+' ? 'add members' : 'remove members', () =>
      target.client.groups.patch(link.id ?? '', operations, context.call),
    );
    const written = sign === '+' ? confirmed(group, members) : members;
    await outbox.ackMembers(
      work,
      sign,
      written.map(({ user }) => user),
    );
  } catch (error) {
    if (
      !isStatus(error, 400, 404, 413) ||
      (isGone(error) && members.length > 1 && (await groupIsGone(context)))
    ) {
      throw error;
    }
    if (members.length === 1) return refused(context, members[0] as Member, error);
    const half = Math.ceil(members.length / 2);
    await send(context, sign, members.slice(0, half));
    await send(context, sign, members.slice(half));
  }
}

const additions = (members: Member[]): PatchOperation[] => [
  { op: 'add', path: 'members', value: members.map(({ platformId }) => ({ value: platformId })) },
];

/** One filtered path each: a platform that overlooks a value list would empty the whole group. */
const removals = (members: Member[]): PatchOperation[] =>
  members.map(({ platformId }) => ({
    op: 'remove',
    path: `members[value eq ${JSON.stringify(platformId)}]`,
  }));

/** Platforms exist that answer 200 and ignore members: where the answer shows the list, believe the list. */
function confirmed(group: WireGroup | undefined, members: Member[]): Member[] {
  if (!group?.members) return members;
  const present = new Set(group.members.map(({ value }) => value));
  const missing = members.filter(({ platformId }) => !present.has(platformId));
  if (missing.length === 0) return members;
  throw new MembersIgnored(
    `the platform answered success and left ${missing.length} of ${members.length} members out`,
  );
}

/** The platform said yes and did not do it; tried again later, with its reason shown. */
export class MembersIgnored extends Error {
  override name = 'MembersIgnored';
}

/** A single member that the platform refuses: most often its account was deleted there. */
async function refused(context: SyncContext, member: Member, error: Error): Promise<void> {
  const { target, outbox } = context;
  try {
    await target.client.users.get(member.platformId, context.call);
  } catch (reason) {
    if (!isGone(reason)) throw reason;
    context.logger.warn(
      { ref: refOf('User', member.user) },
      'account of a member is gone, looking for it anew',
    );
    await outbox.forgetLink(refOf('User', member.user), member.platformId);
    return;
  }
  throw error;
}

async function groupIsGone(context: SyncContext): Promise<boolean> {
  try {
    await context.target.client.groups.get(context.link.id ?? '', { members: false }, context.call);
    return false;
  } catch (error) {
    return isGone(error);
  }
}

function* portions<T>(items: T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
