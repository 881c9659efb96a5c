// Everything the sandbox platform stores. A reset makes a new state; requests under way finish on the old one.
import { createAuditLog, type AuditLog } from './audit-log.ts';
import type { AgentRecord, ExternalUserRecord, ThreadRecord } from './chat/records.ts';
import { createRuns, type Runs } from './chat/runs.ts';
import { EXTERNAL_USER_KEYS, THREAD_KEYS, type ExternalExpiry } from './chat/tables.ts';
import type { JournalDeps } from './journal.ts';
import { createMemberships, type Memberships, type MembershipView } from './memberships.ts';
import type {
  AttributeDefinition,
  Credential,
  Deployment,
  GroupRecord,
  Release,
  Role,
  UserRecord,
} from './records.ts';
import type { JsonObject } from './json.ts';
import type { Settings } from './settings.ts';
import { createTable, type Table, type TableView } from './table.ts';
import { createGrants, createItems, type Grant, type ItemRecord } from './workspace/records.ts';

export interface State {
  readonly users: Table<UserRecord>;
  readonly groups: Table<GroupRecord>;
  readonly memberships: Memberships;
  readonly attributes: Table<AttributeDefinition>;
  readonly roles: Table<Role>;
  /** By secret. */
  readonly credentials: Map<string, Credential>;
  readonly deployments: Map<string, Deployment>;
  /** Published versions of the deployment software. */
  readonly releases: Table<Release>;
  readonly audit: AuditLog;
  readonly threads: Table<ThreadRecord>;
  readonly externalUsers: Table<ExternalUserRecord>;
  readonly externalExpiry: ExternalExpiry;
  /** Agents with a script; the others only answer. */
  readonly agents: Table<AgentRecord>;
  /** Answers under way, in memory only. */
  readonly runs: Runs;
  /** `<deployment id>/<branch name>` of the branches that somebody views. */
  readonly branchViews: Set<string>;
  readonly workspace: Table<ItemRecord>;
  readonly grants: Table<Grant>;
  /** Records of the resources known by path alone, by path (control-plane/collections.ts). */
  readonly collections: Map<string, readonly JsonObject[]>;
  /** Ids of administrators that are not deactivated (last-admin rule, contract 3.3). */
  readonly activeAdmins: Set<number>;
}

/** What a reading request sees; lags behind when a fault says so. */
export interface StateView {
  readonly users: TableView<UserRecord>;
  readonly groups: TableView<GroupRecord>;
  readonly memberships: MembershipView;
  readonly attributes: TableView<AttributeDefinition>;
}

/** What every operation works on: the stored state, the switches, and the moment, Unix milliseconds. */
export interface Scene {
  readonly state: State;
  readonly settings: Settings;
  readonly nowMs: number;
}

const lower = (text: string | null): string[] => (text === null ? [] : [text.toLowerCase()]);

/** Letters before an @ that the index of the user search holds. */
const SEARCH_KEY_LENGTH = 3;

/** The index key inside a search for an address, or undefined when the search is too short or no address. */
export function searchKey(wanted: string): string | undefined {
  const at = wanted.indexOf('@');
  return at < SEARCH_KEY_LENGTH ? undefined : wanted.slice(at - SEARCH_KEY_LENGTH, at + 1);
}

/** A key for every @ of the text: whoever contains a searched address is found under the key inside it. */
function searchKeys(text: string): string[] {
  const keys = new Set<string>();
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    if (at >= SEARCH_KEY_LENGTH) keys.add(text.slice(at - SEARCH_KEY_LENGTH, at + 1));
  }
  return [...keys];
}

/** An empty state; keys of all indexes are lower case. */
export function createState(deps: JournalDeps): State {
  return {
    users: createTable<UserRecord>(
      {
        uuid: (user) => [user.uuid],
        userName: (user) => [user.userName.toLowerCase()],
        externalId: (user) => lower(user.externalId),
        displayName: (user) => lower(user.displayName),
        email: (user) => [
          ...new Set([user.email, ...user.emails.map((entry) => entry.value)].flatMap(lower)),
        ],
        search: (user) => searchKeys(user.searchText),
      },
      deps,
    ),
    groups: createTable<GroupRecord>(
      {
        uuid: (group) => [group.uuid],
        displayName: (group) => [group.displayName.toLowerCase()],
        externalId: (group) => lower(group.externalId),
      },
      deps,
    ),
    memberships: createMemberships(deps),
    attributes: createTable<AttributeDefinition>({ name: (definition) => [definition.name] }, deps),
    roles: createTable<Role>({ name: (role) => [role.name.toLowerCase()] }, deps),
    credentials: new Map(),
    deployments: new Map(),
    releases: createTable<Release>({ channel: (release) => [release.channel] }, deps),
    audit: createAuditLog(),
    threads: createTable<ThreadRecord>(THREAD_KEYS, deps),
    externalUsers: createTable<ExternalUserRecord>(EXTERNAL_USER_KEYS, deps),
    externalExpiry: { dueMs: 0 },
    agents: createTable<AgentRecord>({ agentId: (agent) => [agent.agentId] }, deps),
    runs: createRuns(),
    branchViews: new Set(),
    workspace: createItems(deps),
    grants: createGrants(deps),
    collections: new Map(),
    activeAdmins: new Set(),
  };
}

/** The readable parts as they were at `cutoffMs`, or live when it is null. */
export function viewOf(state: State, cutoffMs: number | null): StateView {
  return {
    users: state.users.asOf(cutoffMs),
    groups: state.groups.asOf(cutoffMs),
    memberships: state.memberships.asOf(cutoffMs),
    attributes: state.attributes.asOf(cutoffMs),
  };
}
