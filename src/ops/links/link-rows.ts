// Lists the links between resources and platform ids, also those at targets that left the settings.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { FedTarget, KnownTargets, TargetFeed } from '../../directory/fleet/known-targets.ts';
import type { Link } from '../../directory/outbox/link.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import { fold, parseRef, type Kind, type Ref } from '../../directory/records.ts';
import { findResources, toSearched } from '../find.ts';
import { withPresentCondition } from '../approvals/present-condition.ts';
import { isoTime } from '../../support/sources.ts';

export interface LinkRow {
  connection: string;
  target: string;
  ref: Ref;
  kind: Kind;
  /** Last applied userName or displayName; null if there is none. */
  name: string | null;
  /** externalId of the resource. */
  externalId: string | null;
  platformId: string | null;
  /** The platform's numeric user id, which keys attribute values. */
  account: string | null;
  origin: 'created' | 'adopted' | null;
  /** Null: never written, a group, or the platform did not confirm the last write. */
  active: boolean | null;
  /** Whether the resource was deleted at the source, is out of scope or is protected. */
  departed: boolean;
  /** Whether the settings no longer have the target. The row is then as the bridge last wrote it. */
  removed: boolean;
  /** ISO 8601. */
  lastWrite: string | null;
  /** Reason why the resource is not as desired; `LinkDamaged`: the target was removed, and this link cannot be read. */
  condition: string | null;
}

export interface LinkFilter {
  connection?: string | undefined;
  target?: string | undefined;
  kind?: Kind | undefined;
}

/** The connections in the settings, and the targets that left the settings. */
export interface LinkSources {
  states: readonly DesiredState[];
  knownTargets: Pick<KnownTargets, 'former' | 'linksAt'>;
  /** Targets that the settings have, with their connections. */
  fed: readonly FedTarget[];
}

/** Yields every link in any order, also at the targets that left the settings. */
export async function* listLinks(sources: LinkSources, filter: LinkFilter = {}): AsyncGenerator<LinkRow> {
  for (const { connection, links, outboxes } of sources.states) {
    if (filter.connection !== undefined && connection !== filter.connection) continue;
    for (const [target, outbox] of outboxes) {
      if (filter.target !== undefined && target !== filter.target) continue;
      for await (const { ref, link } of links.all(target)) {
        const row = await presentRow(connection, outbox, ref, link);
        if (filter.kind === undefined || row.kind === filter.kind) yield row;
      }
    }
  }
  for await (const row of rowsAtRemoved(sources, filter))
    if (filter.kind === undefined || row.kind === filter.kind) yield row;
}

/** Returns the targets that left the settings, of the connection and with the name of the filter. */
export async function removedFeeds(
  { knownTargets, fed }: LinkSources,
  { connection, target }: LinkFilter,
): Promise<TargetFeed[]> {
  const former = await knownTargets.former(fed);
  return former.filter(
    (feed) => feed.connection === (connection ?? feed.connection) && feed.target === (target ?? feed.target),
  );
}

async function* rowsAtRemoved(sources: LinkSources, filter: LinkFilter): AsyncGenerator<LinkRow> {
  for (const feed of await removedFeeds(sources, filter)) {
    for await (const { ref, link } of sources.knownTargets.linksAt(feed)) {
      const row = { ...toRow(feed, ref, link ?? {}), removed: true };
      // A damaged link is listed too: the repair of derived data does not reach removed targets, and the account may be open.
      yield link ? row : { ...row, condition: 'LinkDamaged' };
    }
  }
}

/**
 * Returns the links of the resources that `text` may identify, also at the targets that left the settings; undefined:
 * no resource is known by it.
 */
export async function showLinks(sources: LinkSources, text: string): Promise<LinkRow[] | undefined> {
  const found = await findResources(toSearched(sources.states), text);
  const rowsAt = ({ connection, links, outboxes }: LinkSources['states'][number]): Promise<LinkRow>[] =>
    found
      .filter((each) => each.connection === connection)
      .flatMap(({ ref }) =>
        [...outboxes].map(async ([target, outbox]) =>
          presentRow(connection, outbox, ref, await links.get(target, ref)),
        ),
      );
  const rows = await Promise.all(sources.states.flatMap(rowsAt));
  for await (const row of rowsAtRemoved(sources, {})) {
    const isFound = found.some(({ connection, ref }) => connection === row.connection && ref === row.ref);
    // `found` lacks a deleted person whose name only this link has, or whose name another person has now.
    if (isFound || isCalled(row, text.trim())) rows.push(row);
  }
  return found.length === 0 && rows.length === 0 ? undefined : rows;
}

const isCalled = ({ ref, name, externalId }: LinkRow, text: string): boolean =>
  [ref, parseRef(ref).id, externalId].includes(text) || (name !== null && fold(name) === fold(text));

/** Returns the link of a resource at a target of the settings as a row, with the condition that holds now. */
export const presentRow = async (
  connection: string,
  outbox: Outbox,
  ref: Ref,
  link: Link,
): Promise<LinkRow> =>
  toRow({ connection, target: outbox.target }, ref, await withPresentCondition(outbox, ref, link));

function toRow(where: TargetFeed, ref: Ref, link: Link): LinkRow {
  const { core = {}, condition, unsure, writtenAt } = link;
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return {
    ...where,
    ref,
    kind: parseRef(ref).kind,
    name: text(core.userName) ?? text(core.displayName),
    externalId: text(core.externalId),
    platformId: link.id ?? null,
    account: link.account ?? null,
    origin: link.origin ?? null,
    active: typeof core.active === 'boolean' && !unsure?.includes('active') ? core.active : null,
    departed: link.departed === true,
    removed: false,
    lastWrite: writtenAt === undefined ? null : isoTime(writtenAt),
    condition: condition?.reason ?? null,
  };
}
