// Imports links between resources and platform ids from the lines of an export.
import type { Actor } from '../../directory/logs/acts.ts';
import type { Holder } from '../../directory/outbox/links.ts';
import { fold, parseRef, type Ref, type StoredRecord } from '../../directory/records.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { unrecognisedText } from '../../reconcile/tenant/tenant.ts';
import { whileAnswering } from '../../reconcile/while-answering.ts';
import { isGone } from '../../sync/calls/failures.ts';
import { readGivenLink, refOfGiven, type GivenLink } from './given-link.ts';

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
  /** Called with a sentence about each longer wait for the rate limit of a target; undefined: it is not told. */
  tell?: (connection: string, target: string, waiting: string) => void;
}

/**
 * Imports the rows of an export and yields one outcome for each. The first link of a connection leaves an audit entry.
 * @throws TargetSilent when the target of a row does not answer
 */
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

/** Imports one row. The message of a refusal begins with the names at both sides. */
async function importLink(
  scopes: readonly ReconcileScope[],
  row: unknown,
  options: ImportOptions & { recordOnce: (scope: ReconcileScope) => Promise<void> },
): Promise<ImportedRow> {
  const given = readGivenLink(row);
  if (!given)
    return {
      outcome: 'invalid',
      why: 'a line is a JSON object with connection, target, kind (User or Group) and platformId',
    };
  const { outcome, why } = await linkGiven(scopes, given, options);
  if (why === undefined) return { outcome };
  const { connection, target, kind, name, ref } = given;
  return { outcome, why: `${kind} ${name ?? ref}, ${connection} → ${target}: ${why}` };
}

/**
 * Finds the resource of a row by ref, externalId or name, and links it to the platform id of the row. Before, it checks that the
 * platform has the same person or group under this id, and that no other resource is linked to the id: a wrong link would give one
 * person the data of another. The next sync writes all values again.
 * @returns the outcome, with the cause of a refusal
 */
async function linkGiven(
  scopes: readonly ReconcileScope[],
  given: GivenLink,
  {
    by,
    dryRun,
    signal,
    tell = () => undefined,
    recordOnce,
  }: ImportOptions & { recordOnce: (scope: ReconcileScope) => Promise<void> },
): Promise<ImportedRow> {
  const { connection, target, kind, platformId } = given;
  const scope = scopes.find((each) => each.connection === connection && each.target.name === target);
  if (!scope) return { outcome: 'unknown', why: 'the settings have no such connection with this target' };
  const unrecognised = await scope.outbox.whyUnrecognised();
  if (unrecognised) return { outcome: 'unrecognised', why: unrecognisedText(target, unrecognised) };
  const ref = await refOfGiven(scope, given);
  const record = ref && (await scope.directory.get(kind, parseRef(ref).id));
  if (!record)
    return { outcome: 'unknown', why: 'no resource, or more than one, has this ref, externalId or name' };
  if ((await scope.links.get(target, ref)).id === platformId) return keepLink(scope, ref, given, dryRun);
  const difference = await whileAnswering(
    scope,
    signal,
    (answering) => differenceFrom(scope, given, record, answering),
    (waiting) => tell(connection, target, waiting),
  );
  if (difference === 'absent') return { outcome: 'absent', why: `the platform has no id ${platformId}` };
  if (difference !== undefined) return { outcome: 'mismatch', why: `${platformId} has ${difference}` };
  const holder = await otherHolder(scope, ref, given);
  if (holder !== undefined) return takenBy(platformId, holder);
  if (dryRun) return { outcome: 'imported' };
  await recordOnce(scope);
  return storeLink(scope, ref, given, by);
}

const BUSY_ELSEWHERE =
  'a sync of it runs, or a connection that left these settings holds it and no service runs with them alone; import the line again when it does';

/** Claims the id of a stored link. The claim removes the link of a former connection that an interrupted import left. */
async function keepLink(
  { links: { elsewhere } }: ReconcileScope,
  ref: Ref,
  { target, kind, platformId }: GivenLink,
  dryRun: boolean,
): Promise<ImportedRow> {
  const claimed = dryRun ? 'claimed' : await elsewhere.claim(target, ref, { kind, platformId, isNew: false });
  return claimed === 'busy' ? { outcome: 'busy', why: BUSY_ELSEWHERE } : { outcome: 'unchanged' };
}

const ANOTHER = 'another resource';

/** Returns words for the resource, also of another connection, that is linked to the id; undefined: no other one is. */
async function otherHolder(
  { directory, links }: ReconcileScope,
  ref: Ref,
  { target, kind, platformId }: GivenLink,
): Promise<string | undefined> {
  const elsewhere = await links.elsewhere.holderOf(target, kind, platformId);
  if (elsewhere) return holderText(elsewhere);
  const holder = await links.holderOf(target, kind, platformId);
  const isHeld =
    holder !== undefined && holder !== ref && (await directory.get(kind, parseRef(holder).id)) !== undefined;
  return isHeld ? ANOTHER : undefined;
}

const holderText = ({ ref, connection }: Holder): string => `${ref} of the connection ${connection}`;

const takenBy = (platformId: string, holder: string): ImportedRow => ({
  outcome: 'taken',
  why: `${platformId} is linked to ${holder}`,
});

/** Reserves the id, stores the link, and then removes links of former connections to the id. */
async function storeLink(
  { links: { elsewhere }, outbox }: ReconcileScope,
  ref: Ref,
  { target, kind, platformId, account, origin }: GivenLink,
  by: string,
): Promise<ImportedRow> {
  const reserved = await elsewhere.reserve(target, ref, { kind, platformId, isNew: false });
  if (reserved === 'busy') return { outcome: 'busy', why: BUSY_ELSEWHERE };
  // Not a list: another connection is linked to the id.
  if (!Array.isArray(reserved)) return takenBy(platformId, holderText(reserved));
  // `adopting` and `rejoining` both mean: memberships that the platform has already are neither added nor logged.
  const linked = kind === 'Group' ? { adopting: true as const } : { rejoining: true as const };
  const link = { id: platformId, ...(account === null ? {} : { account }), origin, ...linked };
  const outcome = await outbox.adoptLink(ref, link, `import:${by}`);
  if (outcome === 'taken') return takenBy(platformId, ANOTHER);
  if (outcome === 'busy') return { outcome, why: 'a sync of it runs; import the line again' };
  if (outcome === 'unknown') return { outcome, why: 'it was deleted meanwhile' };
  // The link of a former connection is removed last: if the new link is refused, no other link names the account.
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
