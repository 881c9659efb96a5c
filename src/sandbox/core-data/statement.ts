// Defines statements of the engine: SQL text with bound values, and quoted names.

export interface Statement {
  readonly sql: string;
  /** Texts for `$1`, `$2` and so on. */
  readonly values: readonly string[];
  /** Keeps whole numbers of 32 bits as numbers, as in answers of `/v1/load`. */
  readonly keepsNumbers?: boolean;
}

/** Binds a value to the statement and returns its placeholder. */
export type Bind = (value: string) => string;

/** Quotes an identifier with any content. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
