// Gives the words and signs of a plan's actions, and the differences of a change as text. Pure.
import { isDeepStrictEqual } from 'node:util';
import type { Action, PlanEntry } from '../entry.ts';

/** The sign of each action at the start of a line, and the words after its count. */
const SHOWN: Record<Action, { sign: string; words: string }> = {
  deactivate: { sign: '-', words: 'to deactivate' },
  delete: { sign: '-', words: 'to delete' },
  removeMember: { sign: '-', words: 'memberships to remove' },
  clearAttribute: { sign: '-', words: 'attributes to clear' },
  defineAttribute: { sign: '+', words: 'attribute definitions to create' },
  create: { sign: '+', words: 'to create' },
  adopt: { sign: '+', words: 'to adopt' },
  relink: { sign: '~', words: 'to relink' },
  reactivate: { sign: '+', words: 'to activate' },
  addMember: { sign: '+', words: 'memberships to add' },
  update: { sign: '~', words: 'to update' },
  setAttribute: { sign: '~', words: 'attributes to set' },
  conflict: { sign: '!', words: 'conflicts' },
  unmanaged: { sign: '?', words: 'unmanaged' },
};

export const signOf = (action: Action): string => SHOWN[action].sign;

/**
 * Returns the name of an action for a text. A plan calls each opening of an account `reactivate`, also the first one of an
 * account that the bridge made inactive; the log calls it `activate`.
 */
export const actionName = (action: Action): string => (action === 'reactivate' ? 'activate' : action);

/** Returns the count with the words of the action; the noun agrees with the count. */
export function actionCount(action: Action, count: number): string {
  const { words } = SHOWN[action];
  const noun = /^(membership|attribute|attribute definition)s /;
  return `${count} ${count === 1 ? words.replace(noun, '$1 ') : words}`;
}

const valueText = (value: unknown): string =>
  value === undefined || value === null ? 'nothing' : JSON.stringify(value);

/** Returns a line for each value that a change sets or clears; equal values are left out. */
export function diffLines({ before, after }: PlanEntry): string[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names].flatMap((name) => {
    if (before === null) return [`${name}: ${valueText(after?.[name])}`];
    if (after === null) return [`${name}: was ${valueText(before[name])}`];
    return isDeepStrictEqual(before[name], after[name])
      ? []
      : [`${name}: ${valueText(before[name])} → ${valueText(after[name])}`];
  });
}
