// Records which attributes any account of the platform's lists shows. A list may not return an attribute at all, so a value that no
// account shows is not taken for a difference.
import type { WireUser } from '../../platform/wire.ts';
import { COMPARED_PATHS, EXTENSION, shownCore } from '../../sync/diff.ts';

export type ComparedAttributes = ReturnType<typeof createVisibility>;

/** Creates an empty record of the attributes that the platform's lists return. */
export function createVisibility() {
  const shown = new Set<string>();
  const expected = new Map<string, number>();
  return {
    /** Records whether an account shows a desired value. */
    note: (name: string, isShown: boolean): void => {
      if (shown.has(name)) return;
      if (isShown) shown.add(name);
      else expected.set(name, (expected.get(name) ?? 0) + 1);
    },
    /**
     * Returns false for an attribute that several accounts should have and none shows. One account without the value may have lost
     * it. With two, the list may not return the attribute at all.
     */
    isVisible: (name: string): boolean => shown.has(name) || (expected.get(name) ?? 0) < 2,
  };
}

/** Records the attributes that an account without a difference shows. */
export function noteShown(visibility: ComparedAttributes, user: WireUser): void {
  for (const path of COMPARED_PATHS) if (shownCore(user, path) !== undefined) visibility.note(path, true);
  for (const name in user[EXTENSION]) visibility.note(`attributes.${name}`, true);
}
