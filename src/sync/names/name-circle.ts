// Finds and breaks circles of names, in which two or more resources wait for each other's names: one of them takes a temporary
// name. `chainFrom` follows the names, `retryCircle` marks the dead letters of a circle, `breakCircle` renames one resource
// (`stepAside`). taken-name.ts calls them. Flags of the link: directory/outbox/link.ts.
import { platformIdOf } from '../../directory/outbox/link.ts';
import { fold, parseRef, type Kind, type Ref } from '../../directory/records.ts';
import type { Resource } from '../../scim/index.ts';
import { mayHaveCommitted } from '../calls/failures.ts';
import type { SyncContext } from '../context.ts';
import { holderStateOf, isToBeSynced } from './succession.ts';
import { namePathOf } from '../diff.ts';

/** Largest number of resources in a circle. */
export const LONGEST_CIRCLE = 8;

/** An account or group as the platform shows it. */
export interface ShownName {
  id: string;
  name: string;
}

/** Resources of which each waits for the name of the next. */
interface NameChain {
  /** Begins with the holder of the name that the resource of this sync waits for. */
  refs: Ref[];
  /**
   * `circle`: the last one waits for the name of the resource of this sync. `long`: the chain goes on beyond LONGEST_CIRCLE.
   * `open`: every other end, such as a free name.
   */
  end: 'circle' | 'open' | 'long';
}

/** Returns the accounts or groups that the platform shows with this name. */
export async function called({ target, call, work }: SyncContext, name: string): Promise<ShownName[]> {
  const { users, groups } = target.client;
  const found =
    work.kind === 'User'
      ? (await users.findBy('userName', name, call)).map(({ id, userName }) => ({ id, name: userName }))
      : (await groups.findByDisplayName(name, call)).map(({ id, displayName }) => ({
          id,
          name: displayName,
        }));
  return found.filter((shown) => fold(shown.name) === fold(name));
}

/** Returns a chain of resources of which each waits for the name of the next. @param holderId platform id of the first one */
export async function chainFrom(context: SyncContext, holderId: string): Promise<NameChain> {
  const { directory, links, target, work } = context;
  const refs: Ref[] = [];
  let platformId = holderId;
  while (refs.length < LONGEST_CIRCLE) {
    const ref = await links.holderOf(target.name, work.kind, platformId);
    if (ref === work.ref) return { refs, end: 'circle' };
    // No resource of this connection has the name, or the circle does not contain this resource.
    if (ref === undefined || refs.includes(ref)) return { refs, end: 'open' };
    refs.push(ref);
    const record = await directory.get(work.kind, parseRef(ref).id);
    const wanted = record?.text ? wantedName(context, work.kind, record.text) : undefined;
    // A resource without a readable record, or a group that the settings exclude, waits for no name.
    const [next] = wanted === undefined ? [] : await called(context, wanted);
    // The next name is free, so the others of the chain come free in turn.
    if (next === undefined) return { refs, end: 'open' };
    platformId = next.id;
  }
  return { refs, end: 'long' };
}

/**
 * Marks the dead letters of the circle that contains this resource, so that they are tried again. They may have been refused only
 * because an account or group without link, which a create with a lost answer made, had one of the names. Marked once in a wait for
 * a name (`hasRetriedCircle`), because they may be refused again.
 * @returns whether they are marked now
 */
export async function retryCircle(context: SyncContext, holderId: string): Promise<boolean> {
  const { gate, link, outbox, work } = context;
  if (link.hasRetriedCircle) return false;
  const { refs, end } = await chainFrom(context, holderId);
  const deadLetters = end === 'circle' ? (await outbox.blockedOf(refs)).map(({ ref }) => ref) : [];
  if (deadLetters.length === 0) return false;
  link.hasRetriedCircle = true;
  await outbox.mark(deadLetters, 'edit', work.request);
  if (gate.holder) {
    gate.holder.pendingSince = await outbox.pendingSince([gate.holder.ref]);
    gate.holder.isMarked = true;
  }
  return true;
}

/**
 * Gives this resource a temporary name if it has the smallest ref in a circle. Renames nothing if a resource of the chain has a
 * held change or is not to be synced; if the first such resource has a held change, `gate.heldHolder` becomes its ref.
 */
export async function breakCircle(context: SyncContext, name: string, holderId: string): Promise<void> {
  const { gate, work } = context;
  const { refs, end } = await chainFrom(context, holderId);
  for (const ref of refs) {
    const state = await holderStateOf(context, ref);
    if (state.isHeld) gate.heldHolder = ref;
    // A dead letter takes no other name, and a held deletion releases the name only after its approval.
    if (state.isHeld || !isToBeSynced(state)) return;
  }
  // A chain this long may be no circle, or never move. Without `pendingSince`, successionWait ends the wait after MAX_ATTEMPTS.
  if (end === 'long') delete gate.holder?.pendingSince;
  if (end === 'circle' && refs.every((other) => work.ref < other)) await stepAside(context, name);
}

/** Returns the name that a stored resource should have at the target; undefined: none. */
function wantedName({ target }: SyncContext, kind: Kind, text: string): string | undefined {
  const { userName, displayName } = JSON.parse(text) as Resource;
  return kind === 'User' ? String(userName) : target.mapping.groupName(String(displayName));
}

/** Returns the name that a resource with the temporary name of `stepAside` waits for; undefined: its name is not temporary. */
export function nameBehind({ link, work }: SyncContext): string | undefined {
  const name = String(link.core?.[namePathOf(work.kind)]);
  return name.startsWith(`${work.id}.`) ? name.slice(work.id.length + 1) : undefined;
}

/** Renames the resource to `<id>.<name that it waits for>`, which is unique and releases its old name for the others. */
export async function stepAside(context: SyncContext, name: string): Promise<void> {
  const { link, target, work } = context;
  const path = namePathOf(work.kind);
  const { core, observed } = link;
  const temporaryName = `${work.id}.${name}`;
  const rename = [{ op: 'replace' as const, path, value: temporaryName }];
  const { users, groups } = target.client;
  // The attempt saves the temporary name as unsure before the write, so that after a lost answer a later sync replaces it.
  link.core = { ...core, [path]: temporaryName };
  // The log entry takes the name before the write from `observed`, because `link.core` has the temporary one already.
  link.observed = { ...observed, [path]: core?.[path] };
  try {
    await (work.kind === 'User'
      ? context.attempt([path], 'update user', () => users.patch(platformIdOf(link), rename, context.call))
      : context.attempt([path], 'rename group', () =>
          groups.patch(platformIdOf(link), rename, context.call),
        ));
  } catch (error) {
    if (!mayHaveCommitted(error)) Object.assign(link, { core, observed });
    throw error;
  }
  await context.save();
}
