// What is told of one operation, and the query parameters that many share.

export interface OperationText {
  readonly id: string;
  readonly summary: string;
  /** Query parameters; names of PARAMETERS in document.ts. */
  readonly query?: readonly string[];
  /** Names of schemas. */
  readonly body?: string;
  readonly answer?: string;
  /** Of a success; 200 when absent. */
  readonly status?: number;
  /** Something in the body may be taken already: 409. */
  readonly mayConflict?: true;
  /** Media type of a success that is not JSON. */
  readonly media?: string;
}

/** `<method> <path>`, then what is told of it. */
export type OperationLine = readonly [
  operation: string,
  id: string,
  summary: string,
  more?: Omit<OperationText, 'id' | 'summary'>,
];

export const CURSOR = ['first', 'after'];
/** Both list styles of the Platform API. */
export const BOTH = ['offset', 'limit', ...CURSOR];
