// Lists dead letters, marks them for another sync, or drops them.
import type { Act, Actor } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { conditionText } from '../directory/outbox/condition-text.ts';
import type { Outbox } from '../directory/outbox/outbox.ts';
import { inPortions } from '../directory/redis/portions.ts';
import { readRecordNames } from '../directory/resources/record-names.ts';
import { parseRef, type Kind, type Ref } from '../directory/records.ts';
import { givenUpAmong, givenUpText } from '../sync/names/taken-by-connection.ts';
import { findForOrder, refIn, toSearched } from './find.ts';
import { isoTime } from '../support/sources.ts';

export interface DeadLetter {
  connection: string;
  target: string;
  ref: Ref;
  kind: Kind;
  /** userName or displayName of the record, else the last applied one; the id if there is none. */
  name: string;
  /** ISO 8601. */
  since: string;
  /** Reason and message of the link's condition (of a refusal the platform's message); without a condition `Unknown` and ''. */
  reason: string;
  message: string;
  /** HTTP status of the refusal. */
  status: number | null;
}

/**
 * Selects all dead letters, or those of the resources with these refs, names, ids or addresses; of them only those of the given
 * connection and target.
 */
export type DeadLetterSelection = ({ refs: readonly string[] } | { all: true }) & {
  connection?: string | undefined;
  target?: string | undefined;
};

export interface DeadLetterPage {
  /** Number of dead letters that are left out at the beginning. */
  offset?: number | undefined;
  /** Largest number; default: all. */
  limit?: number | undefined;
}

/** Number of dead letters whose names and reasons are read at once. */
const PORTION = 1000;

/** Returns dead letters in the order of connections and targets, the oldest of each target first. */
export async function listDeadLetters(
  states: readonly DesiredState[],
  { offset = 0, limit = Infinity }: DeadLetterPage = {},
): Promise<DeadLetter[]> {
  const found: DeadLetter[] = [];
  let skip = offset;
  for (const state of states) {
    for (const outbox of state.outboxes.values()) {
      // One read, because dead letters that end between two reads would shift the others out of the second one.
      const blocked = await outbox.blocked({ offset: skip, limit: limit - found.length });
      for (const portion of inPortions(blocked, PORTION))
        found.push(...(await describe(state, outbox, portion)));
      if (found.length >= limit) return found;
      // If none was found here, the offset passes all dead letters of this target, and its rest is for the next target.
      skip = blocked.length > 0 ? 0 : Math.max(0, skip - (await outbox.countBlocked()));
    }
  }
  return found;
}

/**
 * Returns the dead letters of the named resources at all targets.
 * @param names refs, names, ids or addresses
 */
export async function findDeadLetters(
  states: readonly DesiredState[],
  names: readonly string[],
): Promise<DeadLetter[]> {
  const found: DeadLetter[] = [];
  for (const state of states) {
    const refs = new Set<Ref>();
    for (const name of names) {
      const given = refIn(name);
      if (given) refs.add(given);
      else for (const { ref } of await findForOrder(toSearched([state]), name)) refs.add(ref);
    }
    for (const outbox of state.outboxes.values())
      found.push(...(await describe(state, outbox, await outbox.blockedOf([...refs]))));
  }
  return found;
}

/** Adds name, reason and message, which the link and the record of each resource have. */
async function describe(
  { connection, directory, links }: DesiredState,
  outbox: Outbox,
  blocked: readonly { ref: Ref; since: number }[],
): Promise<DeadLetter[]> {
  const { target, settings } = outbox;
  const refs = blocked.map(({ ref }) => ref);
  const [found, names] = await Promise.all([links.getMany(target, refs), readRecordNames(directory, refs)]);
  const conditions = found.map(({ condition }) => condition);
  const givenUp = new Set(await givenUpAmong({ links, outbox }, refs, conditions));
  return blocked.map(({ ref, since }, index) => {
    const { condition, core } = found[index] ?? {};
    const { kind, id } = parseRef(ref);
    const name = names.get(ref) ?? core?.userName ?? core?.displayName;
    const message = condition ? conditionText(condition, settings) : '';
    return {
      connection,
      target,
      ref,
      kind,
      name: typeof name === 'string' ? name : id,
      since: isoTime(since),
      reason: condition?.reason ?? 'Unknown',
      message: givenUp.has(ref) ? givenUpText(ref) : message,
      status: condition?.status ?? null,
    };
  });
}

/** Marks dead letters for another sync. @returns the marked ones */
export const retryDeadLetters = (
  states: readonly DesiredState[],
  selection: DeadLetterSelection,
  actor: Actor,
): Promise<DeadLetter[]> =>
  applyOrder(states, selection, { act: 'retryDeadLetters', ...actor }, ({ outbox, refs }) =>
    // The id of the request, `retry:<operator>`, is in the log entries of the sync.
    outbox.mark(refs, 'edit', `retry:${actor.by}`),
  );

/**
 * Removes dead letters from the list. The desired state is kept, and the next change of the resource is synced.
 * @returns the removed ones
 */
export const dropDeadLetters = (
  states: readonly DesiredState[],
  selection: DeadLetterSelection,
  actor: Actor,
): Promise<DeadLetter[]> =>
  applyOrder(states, selection, { act: 'dropDeadLetters', ...actor }, async ({ outbox, refs }) => {
    for (const ref of refs) await outbox.dismiss(ref);
  });

/**
 * Records the order in the audit log of each connection, and then runs it for each target.
 * @returns the selected dead letters
 */
async function applyOrder(
  states: readonly DesiredState[],
  selection: DeadLetterSelection,
  order: Act,
  run: (selected: { outbox: Outbox; refs: Ref[] }) => Promise<void>,
): Promise<DeadLetter[]> {
  const found = await ('all' in selection
    ? listDeadLetters(states)
    : findDeadLetters(states, selection.refs));
  const deadLetters = found.filter(
    ({ connection, target }) =>
      (selection.connection ?? connection) === connection && (selection.target ?? target) === target,
  );
  for (const { connection, outboxes, acts } of states) {
    for (const [target, outbox] of outboxes) {
      const refs = deadLetters
        .filter((letter) => letter.connection === connection && letter.target === target)
        .map(({ ref }) => ref);
      if (refs.length === 0) continue;
      await acts.record({ ...order, target, subject: shortened(refs), count: refs.length });
      await run({ outbox, refs });
    }
  }
  return deadLetters;
}

/** Number of refs that an audit entry names. */
const MOST_NAMED = 20;

/** Returns the first refs as text for the audit log. */
const shortened = (refs: readonly Ref[]): string =>
  refs.length <= MOST_NAMED ? refs.join(' ') : `${refs.slice(0, MOST_NAMED).join(' ')} …`;
