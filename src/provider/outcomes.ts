// Maps each outcome of the directory to the error of the RFC. No other file has such a table.
import type { GroupName, Method, PutOutcome, RemoveOutcome } from '../directory/resources/changes.ts';
import type { Kind, StoredRecord } from '../directory/records.ts';
import {
  matches,
  notFound,
  preconditionFailed,
  ScimError,
  unavailable,
  uniqueness,
  weakVersion,
  type Resource,
} from '../scim/index.ts';
import type { RequestContext } from './context.ts';

/** How often a write is tried again because another one came first; far beyond what parallel clients reach. */
export const WRITE_ATTEMPTS = 100;

export const missing = (kind: Kind, id: string): Error =>
  notFound(`${kind} ${JSON.stringify(id.slice(0, 100))} not found.`);

/** The text of a record. @throws 500 when it is damaged */
export function soundText(kind: Kind, { id, text, damaged }: StoredRecord): string {
  if (!damaged) return text;
  throw new ScimError(
    500,
    `The stored ${kind} ${id} is damaged: send it as a whole, with PUT, to replace it.`,
  );
}

/** The stored resource that a PUT or PATCH starts from. A PUT replaces all of it. @throws as `soundText` */
export const resourceBefore = (kind: Kind, record: StoredRecord, method: Method): Resource =>
  record.damaged && method === 'put' ? { schemas: [] } : (JSON.parse(soundText(kind, record)) as Resource);

/** The result of a write. */
export interface Stored {
  version: number;
  created: number;
  lastModified: number;
  /** A user's groups. */
  groups: GroupName[];
}

const REMOVED: Stored = { version: 0, created: 0, lastModified: 0, groups: [] };

/** @returns what is stored now, or undefined when the write has to be tried on the new state */
export function settle(kind: Kind, id: string, outcome: PutOutcome | RemoveOutcome): Stored | undefined {
  switch (outcome.kind) {
    case 'stored':
    case 'unchanged': {
      const { version, created, lastModified, groups } = outcome;
      return { version, created, lastModified, groups };
    }
    case 'removed':
      return REMOVED;
    case 'taken':
      throw uniqueness(`Another ${kind} has the same ${outcome.attribute}.`);
    case 'missing':
      throw missing(kind, id);
    case 'stale':
      return undefined;
    default:
      return never(outcome);
  }
}

/** RFC 7644 §3.14: a write with If-Match is done only on that version. */
export function requireMatch(record: StoredRecord, { ifMatch }: RequestContext): void {
  if (ifMatch !== undefined && !matches(ifMatch, weakVersion(record.version))) {
    throw preconditionFailed(`The resource is at version ${weakVersion(record.version)}: read it again.`);
  }
}

/** Too many writers at once on one resource: nothing was changed, the client may come back. */
export const contended = (): Error => unavailable('Too many parallel changes of this resource.', 1);

/** Marks a switch as exhaustive: the compiler refuses it when a case is missing. */
function never(value: never): never {
  throw new Error(`Unexpected case: ${JSON.stringify(value)}`);
}
