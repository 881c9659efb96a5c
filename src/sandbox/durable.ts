// What a part of the state offers so that it can outlive the process (`--data DIR`); Maps and Sets need nothing.

export interface Durable {
  /** Everything worth keeping, entry by entry, in values that persistence/plain.ts can write down. */
  dump(): unknown[];
  /** Fills an empty part from what `dump` gave. */
  restore(entries: readonly unknown[]): void;
}

export function isDurable(value: unknown): value is Durable {
  return typeof value === 'object' && value !== null && 'dump' in value && 'restore' in value;
}
