// Lists dead letters, marks them for another sync, or drops them.
import type { Act, Actor } from '../directory/logs/acts.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { readRecordNames } from '../directory/resources/record-names.ts';
import { parseRef, type Kind, type Ref } from '../directory/records.ts';

export interface DeadLetter {
  connection: string;
  target: string;
  ref: Ref;
  kind: Kind;
  /** userName or displayName of the record, else the last applied one; the id if there is none. */
  name: string;
  /** ISO 8601. */
  since: string;
  /** Reason (Condition.reason) and message; for a refusal the platform's message. */
  reason: string;
  message: string;
  /** HTTP status of the refusal. */
  status: number | null;
}

/** Selected dead letters. */
export type DeadLetterSelection = { refs: readonly string[] } | { all: true };

export async function listDeadLetters(states: readonly DesiredState[]): Promise<DeadLetter[]> {
  const deadLetters: DeadLetter[] = [];
  for (const { connection, directory, links, outboxes } of states) {
    for (const [target, outbox] of outboxes) {
      const blocked = await outbox.blocked();
      const found = await links.getMany(
        target,
        blocked.map(({ ref }) => ref),
      );
      const names = await readRecordNames(
        directory,
        blocked.map(({ ref }) => ref),
      );
      for (const [index, { ref, since }] of blocked.entries()) {
        const { condition, core } = found[index] ?? {};
        const { kind, id } = parseRef(ref);
        const name = names.get(ref) ?? core?.userName ?? core?.displayName;
        deadLetters.push({
          ...{ connection, target, ref, kind },
          name: typeof name === 'string' ? name : id,
          since: new Date(since).toISOString(),
          reason: condition?.reason ?? 'Unknown',
          message: condition?.message ?? '',
          status: condition?.status ?? null,
        });
      }
    }
  }
  return deadLetters;
}

/** Marks dead letters for another sync. @returns their refs */
export const retryDeadLetters = (
  states: readonly DesiredState[],
  selection: DeadLetterSelection,
  actor: Actor,
): Promise<DeadLetter[]> =>
  act(states, selection, { act: 'retryDeadLetters', ...actor }, ({ outbox, refs }) =>
    outbox.mark(refs, 'edit'),
  );

/** Removes dead letters from the list. The desired state is kept, and the next change is synced again. */
export const dropDeadLetters = (
  states: readonly DesiredState[],
  selection: DeadLetterSelection,
  actor: Actor,
): Promise<DeadLetter[]> =>
  act(states, selection, { act: 'dropDeadLetters', ...actor }, async ({ outbox, refs }) => {
    for (const ref of refs) await outbox.dismiss(ref);
  });

type Outbox = DesiredState['outboxes'] extends Map<string, infer Each> ? Each : never;

async function act(
  states: readonly DesiredState[],
  selection: DeadLetterSelection,
  order: Act,
  run: (what: { outbox: Outbox; refs: Ref[] }) => Promise<void>,
): Promise<DeadLetter[]> {
  const deadLetters = (await listDeadLetters(states)).filter(
    ({ ref }) => 'all' in selection || selection.refs.includes(ref),
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

/** Returns the first refs as text for the audit log. */
const shortened = (refs: readonly Ref[]): string =>
  refs.length <= MOST_NAMED ? refs.join(' ') : `${refs.slice(0, MOST_NAMED).join(' ')} …`;
const MOST_NAMED = 20;
