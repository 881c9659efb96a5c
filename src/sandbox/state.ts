// Stores the state of the sandbox. A reset creates a new state; requests in progress finish on the old one.
import { createAuditRecords, type AuditLog } from './audit-log.ts';
import type { AgentRecord, ExternalUserRecord, ThreadRecord } from './chat/records.ts';
import { createRuns, type Runs } from './chat/runs.ts';
import { EXTERNAL_USER_KEYS, THREAD_KEYS, type ExternalExpiry } from './chat/tables.ts';
import type { RecentChangesDeps } from './recent-changes.ts';
import { createMemberships, type Memberships, type MembershipView } from './memberships.ts';
import type {
  AttributeDefinition,
  Credential,
  DeploymentRecord,
  GroupRecord,
  Release,
  AccountRole,
  UserRecord,
} from './records.ts';
import type { SandboxJsonObject } from './json.ts';
import type { SandboxSettings } from './settings.ts';
import { createTable, type MemoryTable, type TableView } from './table.ts';
import { createGrants, createItems, type Grant, type ItemRecord } from './workspace/records.ts';

export interface State {
  readonly users: MemoryTable<UserRecord>;
  readonly groups: MemoryTable<GroupRecord>;
  readonly memberships: Memberships;
  readonly attributes: MemoryTable<AttributeDefinition>;
  readonly roles: MemoryTable<AccountRole>;
  /** By secret. */
  readonly credentials: Map<string, Credential>;
  readonly deployments: Map<string, DeploymentRecord>;
  /** Published versions of the deployment software. */
  readonly releases: MemoryTable<Release>;
  readonly audit: AuditLog;
  readonly threads: MemoryTable<ThreadRecord>;
  readonly externalUsers: MemoryTable<ExternalUserRecord>;
  readonly externalExpiry: ExternalExpiry;
  /** Agents with a script; agents without one are not stored. */
  readonly agents: MemoryTable<AgentRecord>;
  /** Answers in progress; in memory only. */
  readonly runs: Runs;
  /** `<deployment id>/<branch name>` of the branches that a user views. */
  readonly branchViews: Set<string>;
  readonly workspace: MemoryTable<ItemRecord>;
  readonly grants: MemoryTable<Grant>;
  /** Records of generic collections, by path (control-plane/collections.ts). */
  readonly collections: Map<string, readonly SandboxJsonObject[]>;
  /** Ids of administrators that are not deactivated (last-admin rule, contract 3.3). */
  readonly activeAdmins: Set<number>;
}

/** State as read requests see it; a fault can make it stale. */
export interface StateView {
  readonly users: TableView<UserRecord>;
  readonly groups: TableView<GroupRecord>;
  readonly memberships: MembershipView;
  readonly attributes: TableView<AttributeDefinition>;
}

/** Arguments of every operation: the stored state, the settings, and the time in Unix milliseconds. */
export interface CurrentState {
  readonly state: State;
  readonly settings: SandboxSettings;
  readonly nowMs: number;
}

const lower = (text: string | null): string[] => (text === null ? [] : [text.toLowerCase()]);

/** Length of the keys in the user search index: characters before an @. */
const SEARCH_KEY_LENGTH = 3;

/** Returns the index key for a search, or undefined when the text is not an address or too short. */
export function searchKey(wanted: string): string | undefined {
  const at = wanted.indexOf('@');
  return at < SEARCH_KEY_LENGTH ? undefined : wanted.slice(at - SEARCH_KEY_LENGTH, at + 1);
}

/** Returns a key for every @ of the text, so that a search for an address finds all users that contain it. */
function searchKeys(text: string): string[] {
  const keys = new Set<string>();
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    if (at >= SEARCH_KEY_LENGTH) keys.add(text.slice(at - SEARCH_KEY_LENGTH, at + 1));
  }
  return [...keys];
}

/** Creates an empty state; keys of all indexes are lower case. */
export function createState(deps: RecentChangesDeps): State {
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
    roles: createTable<AccountRole>({ name: (role) => [role.name.toLowerCase()] }, deps),
    credentials: new Map(),
    deployments: new Map(),
    releases: createTable<Release>({ channel: (release) => [release.channel] }, deps),
    audit: createAuditRecords(),
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

/** Returns the readable parts as of `cutoffMs`, or live when it is null. */
export function viewOf(state: State, cutoffMs: number | null): StateView {
  return {
    users: state.users.asOf(cutoffMs),
    groups: state.groups.asOf(cutoffMs),
    memberships: state.memberships.asOf(cutoffMs),
    attributes: state.attributes.asOf(cutoffMs),
  };
}
