// Gives the words and signs of a plan's actions, and the differences of a change as text. Pure.
import { isDeepStrictEqual } from 'node:util';
import type { Action, PlanEntry } from './entry.ts';

const WORDS: Record<Action, string> = {
  deactivate: 'to deactivate',
  delete: 'to delete',
  removeMember: 'memberships to remove',
  clearAttribute: 'attributes to clear',
  defineAttribute: 'attribute definitions to create',
  create: 'to create',
  adopt: 'to adopt',
  relink: 'to relink',
  reactivate: 'to activate',
  addMember: 'memberships to add',
  update: 'to update',
  setAttribute: 'attributes to set',
  conflict: 'conflicts',
  unmanaged: 'unmanaged',
};

/** The sign of each action at the start of a line. */
export const ACTION_SIGNS: Record<Action, string> = {
  deactivate: '-',
  delete: '-',
  removeMember: '-',
  clearAttribute: '-',
  defineAttribute: '+',
  create: '+',
  adopt: '+',
  relink: '~',
  reactivate: '+',
  addMember: '+',
  update: '~',
  setAttribute: '~',
  conflict: '!',
  unmanaged: '?',
};

/**
 * Returns the name of an action for a text. A plan calls each opening of an account `reactivate`, also the first one of an
 * account that the bridge made inactive; the log calls it `activate`.
 */
export const actionName = (action: Action): string => (action === 'reactivate' ? 'activate' : action);

/** Returns the count with the words of the action; the noun agrees with the count. */
export const actionCount = (action: Action, count: number): string =>
  `${count} ${count === 1 ? WORDS[action].replace(/^(membership|attribute|attribute definition)s /, '$1 ') : WORDS[action]}`;

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
