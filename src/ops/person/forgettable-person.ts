// Defines what is collected of a person who is to be forgotten: refs, names and accounts.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Ref } from '../../directory/records.ts';
import type { LostHandover } from './lost-handover.ts';

/**
 * An account of the person. Of several states the first one holds:
 * - `active`: it is active at the platform, or may be at a target that left the settings.
 * - `pending`: it is not active, or its state is not known, and a change of it is not written or not confirmed yet.
 * - `gone`: the platform has it no more. `unread`: the platform did not show its state. `closed`: none of these.
 */
export interface AccountState {
  connection: string;
  target: string;
  platformId: string | null;
  state: 'closed' | 'active' | 'pending' | 'gone' | 'unread';
  /** Names of the groups that the account may still be in, because its removal is pending, kept or unconfirmed. */
  groups: string[];
  /** The handover that forgetting the person ends; null: nothing of the account is, or is to be, handed over. */
  handover: LostHandover | null;
}

/** All that is known in one connection of a person who is no longer pushed. */
export interface ForgettablePerson {
  state: DesiredState;
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

/** Names that identify a person, in links and in changes of the log. */
export const IDENTIFYING = new Set(['userName', 'externalId', 'emails']);

/** A name in a log entry, with the attribute that had it as its value; `name`: the name of the entry, a userName. */
export type LoggedName = [attribute: string, name: string];

/** Adds a name of the person. @param attribute that had the name as its value */
export function addName({ names, externalIds }: ForgettablePerson, [attribute, name]: LoggedName): void {
  names.add(name);
  if (attribute === 'externalId') externalIds.add(name);
}

/** Adds a platform id that an account of the person has or had. */
export function addPlatformId({ platformIds }: ForgettablePerson, target: string, id: string): void {
  const known = platformIds.get(target) ?? new Set();
  platformIds.set(target, known.add(id));
}
