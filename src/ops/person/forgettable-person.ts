// Defines what is collected of a person who is no longer pushed: refs, names and accounts.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Unrecognised } from '../../directory/outbox/recognition.ts';
import type { Ref } from '../../directory/records.ts';
import type { LostHandover } from './lost-handover.ts';

/**
 * An account of the person. Its `state`:
 * - `active`: it is active at the platform, whatever is pending. If it could not be looked up, because no id is known or the target
 *   left the settings: by its link it may be active.
 * - `pending`: it was not seen active, and a change of it is not written or not confirmed yet.
 * - `unread`: the platform did not show its state; or it was not looked at (`unrecognised`), whatever is pending.
 * - `gone`: the platform no longer has it. `closed`: it is inactive.
 */
export interface AccountState {
  connection: string;
  target: string;
  platformId: string | null;
  state: 'closed' | 'active' | 'pending' | 'gone' | 'unread';
  /** Why no account was looked at: the target may be another tenant; null: recognised, or not in the settings. */
  unrecognised: Unrecognised | null;
  /** Names of the groups that the account may still be in, because its removal is pending, kept or unconfirmed. */
  groups: string[];
  /** The handover that forgetting the person ends; null: nothing of the account is, or is to be, handed over. */
  handover: LostHandover | null;
}

export interface ForgettablePerson {
  desired: DesiredState;
  refs: Ref[];
  /** userNames, externalIds and addresses, present and former. */
  names: Set<string>;
  externalIds: Set<string>;
  /** Platform ids of the accounts by target, present and former, as far as links and log have them. */
  platformIds: Map<string, Set<string>>;
  /** Names of the person that now belong to pushed users who are other people. */
  taken: Set<string>;
  accounts: AccountState[];
}

/** Attributes whose values identify a person, in links and in changes of the log. */
export const IDENTIFYING: ReadonlySet<string> = new Set(['userName', 'externalId', 'emails']);

/** A name of a person, with the attribute that had it as its value; `name`: the name of a log entry, a userName. */
export type NameOfPerson = [attribute: string, name: string];

export function addName({ names, externalIds }: ForgettablePerson, [attribute, name]: NameOfPerson): void {
  names.add(name);
  if (attribute === 'externalId') externalIds.add(name);
}

export function addPlatformId({ platformIds }: ForgettablePerson, target: string, id: string): void {
  const known = platformIds.get(target) ?? new Set();
  platformIds.set(target, known.add(id));
}
