// Defines how a part of the state is saved and restored (`--data DIR`). Maps and Sets need no such methods, because
// persistence/parts.ts reads and fills them.

export interface Durable {
  /** Returns all entries as values that persistence/plain.ts can encode. */
  dump(): unknown[];
  /** Fills this part of the state, which has to be empty, with the entries of `dump`. */
  restore(entries: readonly unknown[]): void;
}

export function isDurable(value: unknown): value is Durable {
  return typeof value === 'object' && value !== null && 'dump' in value && 'restore' in value;
}
