// Defines what a sync reads when it begins, and reads it from the reply of begin_sync.lua.
import { parseLink, type Link } from './link.ts';
import type { LogEntry } from '../logs/provisioning-log.ts';
import {
  parseRef,
  parseStored,
  type Kind,
  type Priority,
  type Ref,
  type StoredRecord,
  type GroupName,
} from '../records.ts';
import { pairsOf } from '../redis/portions.ts';
import type { ScriptReply } from '../redis/scripts.ts';
import { isUnconfirmed } from './pending-memberships.ts';

/** The lease on one ref, and the data that was read together with it. */
export interface DueWork {
  ref: Ref;
  kind: Kind;
  id: string;
  /** Priority of the job, with which a sync that continues later is scheduled again. */
  priority: Priority;
  /** Number of the lease. */
  fence: string;
  /** Number of the mark that this sync began with; a newer mark stays after the sync. */
  generation: string;
  /** Time when the oldest unapplied change was accepted, Unix milliseconds. */
  since: number;
  /** Correlation id of the newest push or order. */
  request: string;
  /** Undefined when the resource was deleted. */
  record: StoredRecord | undefined;
  link: Link;
  /** Platform id of the link as it is stored: the id in `link` may change before the link is stored again. */
  storedId: string | undefined;
  /** A user's groups. */
  groups: GroupName[];
  /** Pending memberships of a user, without unconfirmed removals: group id → sign (PendingSign). */
  pendingGroups: Map<string, string>;
  /** Whether the guard holds a change of this resource, or an operator approved or rejected one. */
  hasGuardItem: boolean;
  /** Unix milliseconds; set when the resource was deleted. */
  deletedAt: number | undefined;
  /** Version of the resource when it was deleted; undefined: it is stored. */
  deletedVersion: number | undefined;
  /** Names with suspected drift as JSON; '' when there are none. */
  suspectedDrift: string;
  /** Values that a comparison saw at the platform for `suspectedDrift`, as JSON; '': there are none. */
  observedDrift: string;
  /** Basis of this sync, which the link stores at its end (lua/basis.lua). */
  basis: string;
  /** Entries of the provisioning log, written with the next step of this sync. */
  logEntries: LogEntry[];
}

/** Reply of begin_sync.lua for a sync that begins. `record`, `link`, `tombstone` and both drifts: '' where there is none. */
type BegunReply = [
  tag: string,
  fence: string,
  generation: string,
  since: string,
  request: string,
  record: string,
  link: string,
  /** Id, displayName, id, and so on. */
  groups: string[],
  /** Group id, sign, group id, and so on. */
  pendingGroups: string[],
  /** 0 or 1. */
  hasGuardItem: number,
  tombstone: string,
  suspectedDrift: string,
  basis: string,
  observedDrift: string,
];

function deletionOf(tombstone: string): Pick<DueWork, 'deletedAt' | 'deletedVersion'> {
  if (tombstone === '') return { deletedAt: undefined, deletedVersion: undefined };
  const { deletedAt, version } = JSON.parse(tombstone) as { deletedAt: number; version: number };
  return { deletedAt, deletedVersion: version };
}

/** Converts the reply for a sync that begins. @param priority of the job */
export function toDueWork(ref: Ref, priority: Priority, reply: ScriptReply): DueWork {
  const { kind, id } = parseRef(ref);
  const [_tag, fence, generation, since, request, record, linkText, groups, ...rest] = reply as BegunReply;
  const [pendingGroups, hasGuardItem, tombstone, suspectedDrift, basis, observedDrift] = rest;
  const link = parseLink(linkText);
  return {
    ref,
    kind,
    id,
    priority,
    fence,
    generation,
    since: Number(since),
    request,
    record: record === '' ? undefined : parseStored(id, record),
    link,
    storedId: link.id,
    groups: pairsOf(groups).map(([group, displayName]) => ({ id: group, displayName })),
    pendingGroups: new Map(pairsOf(pendingGroups).filter(([, sign]) => !isUnconfirmed(sign))),
    hasGuardItem: hasGuardItem === 1,
    ...deletionOf(tombstone),
    suspectedDrift,
    observedDrift,
    basis,
    logEntries: [],
  };
}
