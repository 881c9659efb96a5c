// Builds the provisioning log entries of one sync from what the sync noted: adds the resource, the attempt and the changed values.
import type { Link } from '../directory/outbox/link.ts';
import type { Condition } from '../directory/outbox/link-condition.ts';
import type { DueWork } from '../directory/outbox/due-work.ts';
import type { LogEntry } from '../directory/logs/provisioning-log.ts';
import type { PlatformError } from '../platform/errors.ts';
import { PlatformResponse } from '../platform/errors.ts';

/** An entry before `toEntry` completes it. `before`: value of each changed name before the write. */
export type EntryDraft = Pick<LogEntry, 'action' | 'status'> &
  Partial<LogEntry> & { before?: Map<string, unknown> };

/**
 * Completes an entry with the resource, the attempt and the changed values. A rejection or its withdrawal orders no write: the
 * cause of a write after it is the push or run whose change was held.
 * @param condition at the start of the sync
 */
export function toEntry(
  work: DueWork,
  { before, ...rest }: EntryDraft,
  condition: Condition | undefined,
): LogEntry {
  const { link } = work;
  const isOfRejection = /^(rejection|withdrawal):/.test(work.request) && rest.action !== 'none';
  const { request = work.request, accepted = work.since } = (isOfRejection && condition) || {};
  const names = rest.action === 'create' ? namesIn(link) : [...(before?.keys() ?? [])];
  const changes = names.map((name): [string, unknown, unknown] => [
    name,
    before?.get(name) ?? null,
    valueIn(link, name),
  ]);
  return {
    ref: work.ref,
    name: nameOf(work),
    ...(link.id === undefined ? {} : { platformId: link.id }),
    request,
    generation: work.generation,
    accepted,
    priority: work.priority,
    // The link counts a failed attempt already.
    attempt: attemptsOf(link) + (rest.status === 'failure' || rest.status === 'retry' ? 0 : 1),
    ...rest,
    ...(changes.length > 0 ? { changes } : {}),
  };
}

/** Returns the value of a name in a link; null when there is none. */
export function valueIn(link: Link, name: string): unknown {
  if (name.startsWith('attributes.')) return link.attributes?.[name.slice('attributes.'.length)] ?? null;
  return link.core?.[name] ?? null;
}

/**
 * Returns the names of all values that a link shows at the platform. Unset values are left out: no create sends them, and a look-up
 * after a lost answer notes them as null.
 */
function namesIn(link: Link): string[] {
  const { core = {}, attributes = {} } = link;
  const names = [...Object.keys(core), ...Object.keys(attributes).map((name) => `attributes.${name}`)];
  return names.filter((name) => valueIn(link, name) !== null);
}

/** Returns the number of consecutive attempts that failed or found the name with its former holder. */
export const attemptsOf = ({ attempts = 0, successionAttempts = 0 }: Link): number =>
  attempts + successionAttempts;

/** Returns the name at the platform, else at the source, else the id. The text of a damaged record is ''. */
function nameOf({ link, record, id }: DueWork): string {
  const known = link.core?.userName ?? link.core?.displayName;
  if (typeof known === 'string') return known;
  const { userName, displayName } = JSON.parse(record?.text || '{}') as Record<string, string | undefined>;
  return userName ?? displayName ?? id;
}

/** Returns the failed call, without its body. */
export function factsOf(error: PlatformError): NonNullable<LogEntry['http']> {
  const { method, route } = error;
  if (!(error instanceof PlatformResponse)) return { method, route };
  const { status, requestId } = error;
  return { method, route, status, ...(requestId === undefined ? {} : { requestId }) };
}
