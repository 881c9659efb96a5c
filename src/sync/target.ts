// Creates a target for sync: its policy, platform client, mapping and request budget.
import type { Breaker } from '../directory/outbox/breaker.ts';
import type { Budget } from '../directory/outbox/budget.ts';
import type { RecentExternalIds } from '../directory/resources/recent-external-ids.ts';
import type { GuardSettings } from '../guard/judge.ts';
import { connectPlatform, type PlatformCall, type PlatformClient } from '../platform/client.ts';
import type { ResourceType } from '../scim/index.ts';
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import { createSlots } from '../support/slots.ts';
import { createAdministrators, type Administrators } from './user/administrators.ts';
import { createCatalogue, type Catalogue } from './mapping/catalogue.ts';
import { createAnswering, type Answering } from './calls/answering.ts';
import { createConcurrency } from './calls/concurrency.ts';
import { createTargetWork, type TargetWorkMeter } from './calls/target-work.ts';
import { createMissingIds, type MissingIds } from './calls/missing-ids.ts';
import { createListedAccounts, type ListedAccounts } from './user/listed-accounts.ts';
import { compileMapping, type Mapping, type MappingRules } from './mapping/mapping.ts';

/** Message of the condition `Protected` for a user in `users.protected`. */
export const LISTED_AS_PROTECTED = 'listed in users.protected';

/** Beginning of the message of the condition `Protected` for the owner of the platform key. */
export const OWNER_OF_KEY = 'owner of the platform key';

/** Message of the condition `Protected` while the sync waits until the platform tells the owner of the key. */
export const OWNER_UNTOLD = `${OWNER_OF_KEY} at the last sync; the sync waits until the platform tells again whose key it is`;

/** Settings of a target that limit what sync may write. */
export interface SyncPolicy {
  /**
   * `create-only`: nothing is written to a completed resource. `upsert-only`: nothing is closed, deleted or removed. `sync`:
   * everything is written, as far as the guard allows.
   */
  policy: 'create-only' | 'upsert-only' | 'sync';
  /** `exact`: exactly one exact match is adopted. `report` and `never` act alike: a match is a conflict. */
  adopt: 'exact' | 'report' | 'never';
  users: {
    /** Whether the account of a leaver is closed, or closed and deleted. */
    deprovision: 'deactivate' | 'delete';
    /** `safe`: an account is activated after its values and memberships are written. */
    activation: 'safe' | 'immediate';
    /** userNames of accounts that are never changed. */
    protected: string[];
    /** Days after which a closed account is deleted; null: never. */
    deleteAfterDays: number | null;
  };
  /** `authoritative`: reconcile also removes unmanaged members. */
  groups: { members: 'owned' | 'authoritative' };
  guard: GuardSettings;
  /** Roles that the platform gives to the members of a group, by group name (contract 12.6). */
  groupsRolesMap: Record<string, string | string[]>;
  /**
   * Destination of the folders, workbooks and reports of closed accounts; null or absent: they are not moved. `folder`: name of a
   * folder at the root of the workspace, or id of any folder. `afterDays`: days between the closing of an account and the handover.
   */
  handover?: { deployment: string; folder: string; afterDays: number } | null;
}

/** Settings of a target, as docs/settings-reference.md describes them. */
export type TargetSettings = SyncPolicy &
  MappingRules & {
    name: string;
    url: string;
    token: string;
    scimToken: string | null;
    allowLoopbackHttp: boolean;
    timeoutMs: number;
    concurrency: number;
    minConcurrency: number;
    maxConcurrency: number;
  };

/** One platform tenant, with all that a sync needs of it. */
export interface Target {
  name: string;
  policy: SyncPolicy;
  client: PlatformClient;
  mapping: Mapping;
  /** Attribute definitions of the platform, and the owner of the key. */
  catalogue: Catalogue;
  /** The accounts that were administrators when they were last seen, and whether they were active then. */
  administrators: Administrators;
  /** Calls that the rate limit still allows, shared by all processes. */
  budget: Budget;
  /** Breaker of the calls of this process. */
  breaker: Pick<Breaker, 'read' | 'close'>;
  /** Breaker of `serve`. A command with another address or key than `serve` has its own `breaker`. */
  serviceBreaker: Pick<Breaker, 'read'>;
  /** Whether the platform answers this process, is silent, or limits the rate. */
  answering: Answering;
  /** Returns how many calls of this process may be under way now. */
  concurrency: () => number;
  /** Measures of the calls of this process. */
  work: Pick<TargetWorkMeter, 'read'>;
  listedAccounts: ListedAccounts;
  /** For accounts and for groups: tells whether the whole list of the platform shows an id. */
  missing: Record<'users' | 'groups', MissingIds>;
  recentExternalIds: RecentExternalIds;
  /** Features that the platform refused. `combinedPatchUntil`: no combined PATCH (write-account.ts) before this time, Unix ms. */
  lacks: { externalIdFilter: boolean; combinedPatchUntil: number; userList: boolean };
}

/** Creates a target without a call. @throws PlatformConfiguration, or the error of a mapping that does not compile */
export function createTarget(
  deps: {
    budget: Budget;
    breaker: Pick<Breaker, 'read' | 'close'>;
    /** Absent: it is `breaker`. */
    serviceBreaker?: Pick<Breaker, 'read'>;
    recentExternalIds: RecentExternalIds;
    clock: Clock;
    logger: Logger;
    onCall?: (call: PlatformCall) => void;
  },
  settings: TargetSettings,
  userType: ResourceType,
): Target {
  const { budget, breaker, serviceBreaker = breaker, recentExternalIds, clock, logger, onCall } = deps;
  const { name } = settings;
  const mapping = compileMapping(settings, userType);
  const answering = createAnswering(clock);
  const concurrency = createConcurrency(
    { least: settings.minConcurrency, start: settings.concurrency, most: settings.maxConcurrency },
    clock,
  );
  const slots = createSlots(concurrency.limit);
  const work = createTargetWork({ clock }, { queued: () => slots.waiting(), limit: concurrency.limit });
  /** Whether the last call had to wait for the rate limit. */
  let isRateBound = false;
  const client = connectPlatform({
    url: settings.url,
    // Read at each call, because keys are rotated at run time.
    token: () => settings.token,
    scimToken: () => settings.scimToken ?? settings.token,
    allowLoopbackHttp: settings.allowLoopbackHttp,
    timeoutMs: settings.timeoutMs,
    // Twice the largest limit, because urgent calls start at once, above the limit.
    connections: Math.max(settings.concurrency, settings.maxConcurrency) * 2,
    clock,
    // First a free slot of the concurrency (`gate`), then, just before the request, the rate limit (`admit`).
    gate: (run, call) => slots.run(run, call.urgent),
    admit: async (signal) => {
      isRateBound = (await work.wait(() => budget.take(signal))) > 0;
    },
    onStart: answering.started,
    onCall: (call) => {
      logger.debug({ target: name, ...call }, 'platform call');
      answering.ended(call);
      work.ended(call);
      const wantsMore = slots.waiting() > 0 && !isRateBound;
      concurrency.ended(call, wantsMore);
      onCall?.(call);
    },
  });
  const catalogue = createCatalogue({ client, clock, key: () => settings.token }, mapping.types);
  return {
    name,
    policy: settings,
    client,
    mapping,
    catalogue,
    administrators: createAdministrators(clock),
    budget,
    breaker,
    serviceBreaker,
    answering,
    concurrency: concurrency.limit,
    work,
    listedAccounts: createListedAccounts({ client, clock }),
    missing: {
      users: createMissingIds((range, call) => client.users.list(range, call), clock),
      groups: createMissingIds(
        (range, call) => client.groups.list({ ...range, members: false }, call),
        clock,
      ),
    },
    recentExternalIds,
    lacks: { externalIdFilter: false, combinedPatchUntil: 0, userList: false },
  };
}
