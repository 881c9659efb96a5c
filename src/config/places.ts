// Finds and sets values in a settings document by path. Only own properties are used, because names come from the file.
import type { ConfigFault } from './faults.ts';

/** A value of the document and its place. */
export interface Place {
  /** Keys and list indexes that lead to the value. */
  keys: string[];
  /** The same as a JSON pointer. */
  path: string;
  value: unknown;
}

/** Returns whether a value has keys: a mapping or a list. */
export function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Returns the JSON pointer of a list of keys; the whole document is `/`. */
export function toPath(keys: readonly string[]): string {
  return `/${keys.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
}

/** Returns the keys of a JSON pointer. */
export function toKeys(pointer: string): string[] {
  if (pointer === '' || pointer === '/') return [];
  const parts = pointer.slice(1).split('/');
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the existing values that match a pattern: keys with `/` between, such as `server/port`; `*` is any key or index. */
export function select(root: unknown, pattern: string): Place[] {
  let found: Place[] = [{ keys: [], path: '/', value: root }];
  for (const part of pattern.split('/')) found = found.flatMap((place) => step(place, part));
  return found;
}

/** Returns the places one key below a place. */
function step(place: Place, part: string): Place[] {
  const tree = place.value;
  if (!isTree(tree)) return [];
  let names: string[] = [];
  if (part === '*') names = Object.keys(tree);
  else if (Object.hasOwn(tree, part)) names = [part];
  return names.map((name) => {
    const keys = [...place.keys, name];
    return { keys, path: toPath(keys), value: tree[name] };
  });
}

/** Returns the fault that `check` finds in each mapping at the places of a pattern. @param key added to the path, such as `/url` */
export const faultsIn = (
  document: unknown,
  pattern: string,
  check: (tree: Record<string, unknown>) => string | undefined,
  key = '',
): ConfigFault[] =>
  select(document, pattern).flatMap(({ path, value }) => {
    const message = isTree(value) ? check(value) : undefined;
    return message === undefined ? [] : [{ path: path + key, message }];
  });

/** Returns whether there is text at a place of a pattern. */
export const hasText = (root: unknown, pattern: string): boolean =>
  select(root, pattern).some(({ value }) => typeof value === 'string');

/** Sets a value and creates missing mappings above it. @returns false when a value above it is not a mapping */
export function setAt(root: unknown, keys: readonly string[], value: unknown): boolean {
  let tree = root;
  for (const [index, key] of keys.entries()) {
    if (!isTree(tree)) return false;
    if (index === keys.length - 1) tree[key] = value;
    else if (!Object.hasOwn(tree, key)) tree[key] = {};
    tree = tree[key];
  }
  return true;
}
