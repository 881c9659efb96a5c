// Reads the attributes that the platform's lists show of an account, and records which of them any account shows.
import type { WireUser } from '../../platform/wire.ts';
import { EXTENSION } from '../../sync/diff.ts';

/** Core attributes that are compared, as paths. */
export const COMPARED_PATHS = [
  'userName',
  'externalId',
  'displayName',
  'name.givenName',
  'name.familyName',
  'emails',
];

/** Returns a core attribute of a platform account as text; undefined: not shown. */
export function shownCore(user: WireUser, path: string): string | undefined {
  switch (path) {
    case 'userName':
      return user.userName;
    case 'externalId':
      return user.externalId;
    case 'displayName':
      return user.displayName;
    case 'name.givenName':
      return user.name?.givenName;
    case 'name.familyName':
      return user.name?.familyName;
    case 'emails':
      return (user.emails?.find(({ primary }) => primary) ?? user.emails?.[0])?.value;
    default:
      return undefined;
  }
}

/** Records which attributes the platform's lists return: an attribute that no account shows may not be returned at all. */
export interface ComparedAttributes {
  /** Records whether an account shows a desired value. */
  note(name: string, isShown: boolean): void;
  /** Returns false for an attribute that several accounts should have and none shows. */
  isVisible(name: string): boolean;
}

/** Creates an empty record of the attributes that the platform's lists return. */
export function createVisibility(): ComparedAttributes {
  const shown = new Set<string>();
  const expected = new Map<string, number>();
  return {
    note: (name, isShown) => {
      if (shown.has(name)) return;
      if (isShown) shown.add(name);
      else expected.set(name, (expected.get(name) ?? 0) + 1);
    },
    // One account without the value may have lost it. With two, the list may not return the attribute at all.
    isVisible: (name) => shown.has(name) || (expected.get(name) ?? 0) < 2,
  };
}

/** Returns a function that records the shown attributes of accounts without a difference. */
export function createShownNoter(visibility: ComparedAttributes): (user: WireUser) => void {
  const unseen = new Set(COMPARED_PATHS);
  const attributes = new Set<string>();
  return (user) => {
    for (const path of unseen) {
      if (shownCore(user, path) === undefined) continue;
      visibility.note(path, true);
      unseen.delete(path);
    }
    for (const name in user[EXTENSION]) {
      if (attributes.has(name)) continue;
      attributes.add(name);
      visibility.note(`attributes.${name}`, true);
    }
  };
}
