// Imports links between resources and platform ids from the lines of an export.
import type { Actor } from '../../directory/logs/acts.ts';
import type { Holder } from '../../directory/resources/elsewhere.ts';
import { fold, parseRef, type Ref, type StoredRecord } from '../../directory/records.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { unrecognisedText } from '../../reconcile/tenant/tenant.ts';
import { isGone } from '../../sync/calls/failures.ts';
import type { LinkRow } from './link-rows.ts';

/**
 * `imported`: the link is stored. `unchanged`: it was stored before. `invalid`: the row is malformed. `unknown`: no such
 * connection, target or resource. `mismatch`: the platform's account or group is another one by name or externalId. `absent`: the
 * platform has no such id. `taken`: another resource is linked to the id. `busy`: a sync is running.
 * `unrecognised`: the target may be another tenant, so the row was not compared with it.
 */
export type Imported =
  | 'imported'
  | 'unchanged'
  | 'unknown'
  | 'mismatch'
  | 'absent'
  | 'taken'
  | 'busy'
  | 'unrecognised'
  | 'invalid';

/** Outcome of a row. `why`: the cause of a refusal, with the names at both sides; undefined: the row is not refused. */
interface ImportedRow {
  outcome: Imported;
  why?: string;
}

interface ImportOptions extends Actor {
  /** Returns the outcomes without linking. */
  dryRun: boolean;
  signal: AbortSignal;
}

/** Imports the rows of an export and yields one outcome for each. The first link of a connection leaves an audit entry. */
export async function* importLinks(
  scopes: readonly ReconcileScope[],
  rows: Iterable<unknown> | AsyncIterable<unknown>,
  options: ImportOptions,
): AsyncGenerator<ImportedRow> {
  const { signal, by, via, note } = options;
  const recorded = new Set<string>();
  const recordOnce = async ({ connection, acts }: ReconcileScope): Promise<void> => {
    if (recorded.has(connection)) return;
    recorded.add(connection);
    await acts.record({ act: 'importLinks', by, via, ...(note === undefined ? {} : { note }) });
  };
  for await (const row of rows) {
    signal.throwIfAborted();
    yield await importLink(scopes, row, { ...options, recordOnce });
  }
}

const BUSY_ELSEWHERE =
  'a sync of it runs, or a connection that left these settings holds it and no service runs with them alone; import the line again when it does';

/**
 * Imports one row: finds the resource by ref, externalId or name, and checks that the platform has the same person or group
 * under the id. A wrong link would give one person the data of another. All values are then written again.
 */
async function importLink(
  scopes: readonly ReconcileScope[],
  row: unknown,
  {
    by,
    dryRun,
    signal,
    recordOnce,
  }: ImportOptions & { recordOnce: (scope: ReconcileScope) => Promise<void> },
): Promise<ImportedRow> {
  const given = readRow(row);
  if (!given)
    return {
      outcome: 'invalid',
      why: 'a line is a JSON object with connection, target, kind (User or Group) and platformId',
    };
  const { connection, target, kind, name, platformId, account, origin } = given;
  const subject = `${kind} ${name ?? given.ref}, ${connection} → ${target}`;
  const refused = (outcome: Imported, cause: string): ImportedRow => ({
    outcome,
    why: `${subject}: ${cause}`,
  });
  const scope = scopes.find((each) => each.connection === connection && each.target.name === target);
  if (!scope) return refused('unknown', 'the settings have no such connection with this target');
  const unrecognised = await scope.outbox.whyUnrecognised();
  if (unrecognised) return refused('unrecognised', unrecognisedText(target, unrecognised));
  const ref = await refOfRow(scope, given);
  const record = ref && (await scope.directory.get(kind, parseRef(ref).id));
  if (!record) return refused('unknown', 'no resource, or more than one, has this ref, externalId or name');
  const { elsewhere } = scope.links;
  const claimable = { kind, platformId, isNew: false };
  if ((await scope.links.get(target, ref)).id === platformId) {
    // The claim removes the link of a former connection that an interrupted import may have left.
    const claimed = dryRun ? 'claimed' : await elsewhere.claim(target, ref, claimable);
    return claimed === 'busy' ? refused('busy', BUSY_ELSEWHERE) : { outcome: 'unchanged' };
  }
  const difference = await differenceFrom(scope, given, record, signal);
  if (difference === 'absent') return refused('absent', `the platform has no id ${platformId}`);
  if (difference !== undefined) return refused('mismatch', `${platformId} has ${difference}`);
  const ofOther = ({ ref: other, connection: owner }: Holder): ImportedRow =>
    refused('taken', `${platformId} is linked to ${other} of the connection ${owner}`);
  const holderElsewhere = await elsewhere.holderOf(target, kind, platformId);
  if (holderElsewhere) return ofOther(holderElsewhere);
  const holder = await scope.links.holderOf(target, kind, platformId);
  if (holder !== undefined && holder !== ref && (await scope.directory.get(kind, parseRef(holder).id)))
    return refused('taken', `${platformId} is linked to another resource`);
  if (dryRun) return { outcome: 'imported' };
  await recordOnce(scope);
  const reserved = await elsewhere.reserve(target, ref, claimable);
  if (reserved === 'busy') return refused(reserved, BUSY_ELSEWHERE);
  // Not a list: another connection is linked to the id.
  if (!Array.isArray(reserved)) return ofOther(reserved);
  // `adopting` and `rejoining` both mean: memberships that the platform has already are neither added nor logged.
  const linked = kind === 'Group' ? { adopting: true as const } : { rejoining: true as const };
  const link = { id: platformId, ...(account === null ? {} : { account }), origin, ...linked };
  const outcome = await scope.outbox.adoptLink(ref, link, `import:${by}`);
  if (outcome === 'taken') return refused(outcome, `${platformId} is linked to another resource`);
  if (outcome === 'busy') return refused(outcome, 'a sync of it runs; import the line again');
  if (outcome === 'unknown') return refused(outcome, 'it was deleted meanwhile');
  // Not earlier: if this link is refused, the link of a former connection is the only one that names the account.
  await elsewhere.giveWay(target, platformId, reserved);
  return { outcome };
}

/**
 * Returns how the names of the platform's account or group differ from those of the resource; `absent`: the platform has no such
 * id. Undefined: it is the same person or group.
 */
async function differenceFrom(
  { target, directory }: ReconcileScope,
  { platformId, kind }: GivenLink,
  record: StoredRecord,
  signal: AbortSignal,
): Promise<string | undefined> {
  const ours = JSON.parse(record.text || '{}') as {
    userName?: string;
    externalId?: string;
    displayName?: string;
  };
  try {
    if (kind === 'Group') {
      const group = await target.client.groups.get(platformId, { members: false }, { signal });
      const name = target.mapping.groupName(ours.displayName ?? '');
      if (name === undefined) return `the name ${group.displayName}, and the settings leave the group out`;
      return fold(group.displayName) === fold(name)
        ? undefined
        : `the name ${group.displayName}, not ${name}`;
    }
    const user = await target.client.users.get(platformId, { signal });
    // If both sides have an externalId, it decides first: another person may reuse a name.
    if (user.externalId && ours.externalId) {
      if (user.externalId !== ours.externalId)
        return `the externalId ${user.externalId}, not ${ours.externalId}`;
      // Without a unique externalId the userName has to agree too.
      if (await directory.identifies(ours.externalId)) return undefined;
    }
    const userName = ours.userName ?? '';
    return fold(user.userName) === fold(userName)
      ? undefined
      : `the userName ${user.userName}, not ${userName}`;
  } catch (error) {
    if (isGone(error)) return 'absent';
    throw error;
  }
}

interface GivenLink extends Pick<
  LinkRow,
  'connection' | 'target' | 'kind' | 'name' | 'externalId' | 'account'
> {
  /** '': the row has none. */
  ref: string;
  platformId: string;
  origin: 'created' | 'adopted';
}

/** Returns the link of a row of a file; undefined: the row is malformed. */
function readRow(row: unknown): GivenLink | undefined {
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
async function refOfRow(
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
