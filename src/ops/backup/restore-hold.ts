// Holds every target of a backup. The note names the backup, and repeats who had stopped all writes before, and why, because one
// release ends both holds.
import type { OperatorHold } from '../../directory/guard/operator-hold.ts';
import type { TargetFeed } from '../../directory/fleet/known-targets.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { BackupHeader } from './backup-format.ts';

/** A hold of an operator before the restore, in words. */
export interface FormerHold extends TargetFeed {
  text: string;
}

/**
 * Holds every target, also in place of a hold of an operator.
 * @param by name of the operator of the restore
 * @param assertAlone called before each hold
 * @returns the holds of operators at this time and at the time of the backup
 */
export async function holdForRestore(
  states: readonly DesiredState[],
  { createdAt, holds }: BackupHeader,
  by: string,
  assertAlone: () => void,
): Promise<FormerHold[]> {
  const former: FormerHold[] = [];
  for (const { connection, outboxes } of states)
    for (const [target, { guardStore }] of outboxes) {
      const ofFile = holds?.find((each) => each.connection === connection && each.target === target);
      const texts = [await guardStore.operatorHold(), ofFile].flatMap((hold) => (hold && textOf(hold)) ?? []);
      // The same hold may stand now and in the file.
      const text = [...new Set(texts)].join('; ');
      assertAlone();
      await guardStore.hold(by, `restored from ${createdAt}${text === '' ? '' : `; before it, ${text}`}`, {
        replaces: true,
      });
      if (text !== '') former.push({ connection, target, text });
    }
  return former;
}

/**
 * Returns a hold of an operator in words. For the hold of an earlier restore, the words of the hold before it; undefined: there was
 * none.
 */
function textOf({ by, note }: OperatorHold): string | undefined {
  const restored = /^restored from [\d-]+T[\d:.]+Z(?:; before it, (.*))?$/s.exec(note ?? '');
  return restored ? restored[1] : `${by} stopped all writes${note ? `: ${note}` : ''}`;
}
