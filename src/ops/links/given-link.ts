// Reads a row of an export of links, and finds the resource that it means.
import { parseRef, type Ref } from '../../directory/records.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import type { LinkRow } from './link-rows.ts';

/** A row of an export. */
export interface GivenLink extends Pick<
  LinkRow,
  'connection' | 'target' | 'kind' | 'name' | 'externalId' | 'account'
> {
  /** '': the row has none. */
  ref: string;
  platformId: string;
  origin: 'created' | 'adopted';
}

/** Returns the link of a row of a file; undefined: the row is malformed. */
export function readGivenLink(row: unknown): GivenLink | undefined {
  if (typeof row !== 'object' || row === null) return undefined;
  const { connection, target, ref, kind, name, externalId, platformId, account, origin } = row as Record<
    string,
    unknown
  >;
  const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
  if (!text(connection) || !text(target) || !text(platformId)) return undefined;
  if (kind !== 'User' && kind !== 'Group') return undefined;
  return {
    connection: String(connection),
    target: String(target),
    ref: text(ref) ?? '',
    kind,
    name: text(name),
    externalId: text(externalId),
    platformId: String(platformId),
    account: text(account),
    // Only `created` allows a later deletion, so any other origin counts as adopted.
    origin: origin === 'created' ? 'created' : 'adopted',
  };
}

/** Finds the resource of a row by its ref, externalId or name; undefined: none, or several, fit. */
export async function refOfGiven(
  { directory }: Pick<ReconcileScope, 'directory'>,
  row: GivenLink,
): Promise<Ref | undefined> {
  const { kind } = row;
  if (row.ref.startsWith(`${kind}:`) && (await directory.get(kind, parseRef(row.ref as Ref).id)))
    return row.ref as Ref;
  const lookups: [attribute: string, value: string | null][] = [
    ['externalid', row.externalId],
    [kind === 'User' ? 'username' : 'displayname', row.name],
  ];
  for (const [attribute, value] of lookups) {
    const found = value === null ? [] : ((await directory.lookup(kind, attribute, value)) ?? []);
    if (found.length === 1) return `${kind}:${found[0] ?? ''}`;
  }
  return undefined;
}
