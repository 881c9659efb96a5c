// Imports and forgets links between resources and platform ids.
import type { Actor } from '../../directory/logs/acts.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Holder } from '../../directory/resources/elsewhere.ts';
import { fold, parseRef, type Kind, type Ref, type StoredRecord } from '../../directory/records.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { counted } from '../../support/counted.ts';
import { isGone } from '../../sync/calls/failures.ts';
import { mayBeActive } from '../../sync/user/account-state.ts';
import { linksOf, type LinkRow } from './link-rows.ts';

/**
 * `imported`: the link is stored. `unchanged`: it was stored before. `invalid`: the row is malformed. `unknown`: no such
 * connection, target or resource. `mismatch`: the platform's account or group is another one by name or externalId. `absent`: the
 * platform has no such id. `taken`: another resource is linked to the id. `busy`: a sync is running.
 */
export type Imported =
  'imported' | 'unchanged' | 'unknown' | 'mismatch' | 'absent' | 'taken' | 'busy' | 'invalid';

/** Outcome of a row. `why`: the cause of a refusal, with the names at both sides; undefined: the row is not refused. */
export interface ImportedRow {
  outcome: Imported;
  why?: string;
}

export interface ImportOptions extends Actor {
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
  const ref = await refOfRow(scope, given);
  const record = ref && (await scope.directory.get(kind, parseRef(ref).id));
  if (!record) return refused('unknown', 'no resource, or more than one, has this ref, externalId or name');
  const { elsewhere } = scope.links;
  const claimable = { kind, platformId, isNew: false };
  if ((await scope.links.get(target, ref)).id === platformId) {
    // An import that ended early may have left the link of a former connection, which a claim removes.
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
  if (!Array.isArray(reserved)) return ofOther(reserved);
  // `adopting` and `rejoining` both mean: memberships that the platform has already are neither added nor logged.
  const linked = kind === 'Group' ? { adopting: true as const } : { rejoining: true as const };
  const link = { id: platformId, ...(account === null ? {} : { account }), origin, ...linked };
  const outcome = await scope.outbox.adoptLink(ref, link, `import:${by}`);
  if (outcome === 'taken') return refused(outcome, `${platformId} is linked to another resource`);
  if (outcome === 'busy') return refused(outcome, 'a sync of it runs; import the line again');
  if (outcome === 'unknown') return refused(outcome, 'it was deleted meanwhile');
  // After a refusal the link of a former connection is the only one that names the account.
  await elsewhere.giveWay(target, platformId, reserved);
  return { outcome };
}

/** Returns how the names of the platform's account or group differ from those of the resource; undefined: it is the same one. */
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
    // Names may be reused by another person; an externalId that both sides have decides first.
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

interface GivenLink {
  connection: string;
  target: string;
  ref: string;
  kind: Kind;
  name: string | null;
  externalId: string | null;
  platformId: string;
  account: string | null;
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
    // '': the row has no ref, so the resource is found by externalId or name.
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

export interface ForgetLinksOptions {
  connection: string;
  ref: Ref;
  /** Undefined: all targets. */
  target?: string | undefined;
  /** Forgets although a change that takes access away is not written. */
  leaveAccount?: boolean | undefined;
}

/** A link that is needed to take access away. `message`: why, and what to do. */
export class LinkNeeded extends Error {
  override name = 'LinkNeeded';
}

/** Returns what becomes of the account of a person who is not deleted at the source, after the order to leave it. */
export const adoptedAgainText = (target: string): string =>
  `The person is not deleted at the source: where adopt is exact, the next sync adopts the account again and takes the access away. To leave the account as it is, name the person in targets.${target}.users.protected and restart every process before the link is dropped.`;

/**
 * Deletes the links of one resource. The next sync looks it up again and adopts only by the rules of `adopt`.
 * @returns the targets at which a link was deleted
 * @throws LinkNeeded, before any link is deleted
 */
export async function forgetLinks(
  states: readonly DesiredState[],
  { connection, ref, target, leaveAccount = false }: ForgetLinksOptions,
  actor: Actor,
): Promise<LinkRow[]> {
  const found: {
    state: DesiredState;
    row: LinkRow;
    platformId: string;
    why: string | undefined;
    keepsId: boolean;
  }[] = [];
  const { kind, id } = parseRef(ref);
  for (const state of states.filter((each) => each.connection === connection)) {
    for (const row of await linksOf([state], connection, ref)) {
      if (target !== undefined && row.target !== target) continue;
      const platformId = row.platformId ?? (await idOfLeft(state, row, leaveAccount));
      if (platformId === undefined) continue;
      const why = await whyNeeded(state, row);
      const link = await state.links.get(row.target, ref);
      // The account is to be left, or was closed before: nothing is left for the sync after a deletion.
      const isLeft = why !== undefined || (kind === 'User' && link.departed === true && !mayBeActive(link));
      found.push({ state, row, platformId, why, keepsId: row.platformId !== null && !isLeft });
    }
  }
  const needed = found.find(({ why }) => why !== undefined);
  if (needed && !leaveAccount) {
    const { state, row, why = '' } = needed;
    const isPushed = (await state.directory.get(kind, id)) !== undefined;
    throw new LinkNeeded(
      `At ${row.target}: ${why}. Without its link nothing takes that away any more. ` +
        'Wait until it is written, or approve it (scim-bridge explain shows what it waits for).' +
        (isPushed ? ` ${adoptedAgainText(row.target)}` : ''),
    );
  }
  for (const { state, row, platformId, why, keepsId } of found) {
    const subject = `${ref} ${platformId || '(no known id)'}${why === undefined ? '' : ` left as it is: ${why}`}`;
    await state.acts.record({ act: 'forgetLink', ...actor, target: row.target, subject });
    await state.outboxes.get(row.target)?.forgetLink(ref, platformId, { keepsId });
  }
  return found.map(({ row }) => row);
}

/**
 * Returns the id of the account or group that a resource without link may have (`mayExist`); '': it has no known id. Undefined: it has
 * none, or the resource is stored and the order is not to leave the account: a second order must not drop what the first one kept.
 */
async function idOfLeft(
  { directory, links }: DesiredState,
  { kind, ref, target }: LinkRow,
  leaveAccount: boolean,
): Promise<string | undefined> {
  const { mayExist } = await links.get(target, ref);
  if (!mayExist || (!leaveAccount && (await directory.get(kind, parseRef(ref).id)))) return undefined;
  return mayExist.id ?? '';
}

/** Returns why the link is needed: access that the bridge still has to remove at the platform; undefined: none. No full stop. */
async function whyNeeded(
  { directory, links, outboxes }: DesiredState,
  { ref, kind, target }: LinkRow,
): Promise<string | undefined> {
  const outbox = outboxes.get(target);
  if (!outbox) return undefined;
  const { id } = parseRef(ref);
  const [link, record, { pendingMemberships, unconfirmedRemovals }] = await Promise.all([
    links.get(target, ref),
    directory.get(kind, id),
    outbox.resourceStatus(ref),
  ]);
  if (kind === 'Group') {
    // A departed group stays at the platform by the policy. The order to forget its link frees it, so that another group may be
    // linked to it.
    return record || link.departed
      ? undefined
      : 'The group was deleted at the source and its deletion is not written';
  }
  const [closing] = await outbox.guardStore.verdictsOn([{ kind: 'deactivate', ref }]);
  const isActive = record && (JSON.parse(record.text || '{}') as { active?: boolean }).active !== false;
  const isOut = link.departed === true && link.condition?.reason !== 'Protected';
  const isToBeClosed = !isActive || isOut || closing !== undefined;
  if (mayBeActive(link) && isToBeClosed) {
    if (!record) return 'The account may be active, although the person is deleted at the source';
    return isActive
      ? 'The account may be active, although the person is not meant for the target'
      : 'The account may be active, although the person is inactive at the source';
  }
  // `+` adds a membership; every other sign takes one away (pending membership in docs/glossary.md).
  const unwritten = [...pendingMemberships.values()].filter((sign) => sign !== '+');
  const removals = unwritten.length + unconfirmedRemovals.length;
  return removals === 0
    ? undefined
    : `The person is still in ${counted(removals, 'group')} against the source`;
}
