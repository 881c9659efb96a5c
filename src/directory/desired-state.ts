// Creates all stores of one connection. The settings name the targets that the connection is synced to now; links and logs of
// former targets, which the settings no longer have, are kept and can be read too. A target may be fed by other connections as
// well.
import type { Redis } from 'ioredis';
import { createActs } from './logs/acts.ts';
import { createLastLogChecks } from './logs/last-log-check.ts';
import { isFedByNone } from './fleet/announced-rules.ts';
import { createFleetStore, runningOf } from './fleet/fleet-store.ts';
import { createKnownTargets, type KnownTargets } from './fleet/known-targets.ts';
import { createArchive } from './archive/archive.ts';
import { createCoverageReader } from './outbox/coverage-reader.ts';
import { createDirectory } from './resources/directory.ts';
import { createDriftNotes } from './outbox/drift.ts';
import { createEventStream } from './logs/event-stream.ts';
import { createElsewhere, createLinks, type Elsewhere } from './outbox/links.ts';
import { createKeyspace } from './keys.ts';
import { createHandoverStore } from './outbox/handover-store.ts';
import { createOutbox } from './outbox/outbox.ts';
import type { Ref } from './records.ts';
import { createRecognition, type Unrecognised } from './outbox/recognition.ts';
import type { StreamLimits } from './logs/chained-stream.ts';
import { createForgetOrders } from './person/forget-orders.ts';
import { createPersonData } from './person/person-data.ts';
import { createProvisioningLog } from './logs/provisioning-log.ts';
import { createProof } from './proof/prove.ts';
import { createRunStore } from './outbox/runs.ts';
import { createOlderData } from './redis/older-data.ts';
import type { Scripts } from './redis/scripts.ts';
import { createStoredTokens } from './stored-tokens.ts';
import type { DirectoryOptions } from './resources/changes.ts';

/** All stores of one connection: the directory, and what the bridge keeps about its targets. */
export type DesiredState = ReturnType<typeof createDesiredState>;

interface DesiredStateOptions {
  /** Common start of all Redis keys of the service. */
  prefix: string;
  connection: string;
  /** Names of the targets to which the connection is synced. */
  targets: string[];
  /** Returns the address of a target's platform; '' for a target that the settings do not have. */
  addressOf: (target: string) => string;
  /** Returns a digest of the settings of a target that decide how resources are synced; absent: '' for every target. */
  settingsOf?: (target: string) => string;
  /** Returns whether the settings of a target delete the account of a leaver after its deactivation; absent: no. */
  deletesLeaversAt?: (target: string) => boolean;
  /** Whether mapping rules read the groups of users. */
  rulesReadGroups: boolean;
  /** Duration of the lease of a sync. */
  leaseMs: number;
  /** Limits of the provisioning log; absent: the default ones. */
  log?: StreamLimits;
  /** Undefined: no security events. */
  events?: DirectoryOptions['events'];
  /** Whether externalIds of users are unique; absent: they are not. */
  uniqueExternalIds?: boolean;
  /** Returns the names of other connections of a target; absent: there are none. */
  othersOf?: (target: string) => readonly string[];
}

export function createDesiredState(deps: { redis: Redis; scripts: Scripts }, options: DesiredStateOptions) {
  const { connection, targets, addressOf, rulesReadGroups, leaseMs, log, events } = options;
  const keys = createKeyspace(options.prefix, connection);
  const known = createKnownTargets(deps, options);
  const othersOf = options.othersOf ?? (() => []);
  const storeDeps = { ...deps, keys };
  const keysOfOthers = (target: string) =>
    othersOf(target).map((name) => createKeyspace(options.prefix, name));
  const atEach = <Store>(create: (target: string) => Store): Map<string, Store> =>
    new Map(targets.map((target) => [target, create(target)]));
  const outboxes = atEach((target) =>
    createOutbox(storeDeps, {
      target,
      leaseMs,
      rulesReadGroups,
      log,
      address: addressOf(target),
      others: keysOfOthers(target),
      settings: options.settingsOf?.(target),
      deletesLeavers: options.deletesLeaversAt?.(target),
    }),
  );
  const fedHere = targets.map((target) => ({ connection, target, address: addressOf(target) }));

  async function formerTargets(): Promise<string[]> {
    const formerFeeds = await known.former(fedHere);
    return formerFeeds.flatMap((feed) => (feed.connection === connection ? [feed.target] : []));
  }

  async function whyUnrecognised(target: string): Promise<Unrecognised | undefined> {
    const address = addressOf(target);
    if (address === '') return undefined;
    const others = keysOfOthers(target);
    // A target that other connections alone feed is recognised only if each of them recognises it.
    const keysOfFeeds = targets.includes(target) ? [keys] : [keys, ...others];
    for (const keysOfFeed of keysOfFeeds) {
      const feedDeps = { ...deps, keys: keysOfFeed };
      const why = await createRecognition(feedDeps, { target, address, others }).whyUnrecognised();
      if (why) return why;
    }
    return undefined;
  }

  return {
    connection,
    /** Returns why a target of the settings may be another tenant than that of the links; undefined: it is recognised. */
    whyUnrecognised,
    /** Returns the targets that the settings had before and no longer have. Links and logs of them are kept. */
    formerTargets,
    /** Returns whether an account or group of a former target is linked at a target of the settings: the target got a new name. */
    isLinkedAnew: (formerTarget: string, found: { ref: Ref; id: string }): Promise<boolean> =>
      known.isLinkedAnew({ connection, target: formerTarget }, found, fedHere),
    /** Returns the provisioning logs by target, those of former targets too. */
    allLogs: async () => {
      const limits = log ? { limits: log } : {};
      const formerLogs = (await formerTargets()).map((target) => {
        const formerLog = createProvisioningLog(storeDeps, { target, ...limits });
        return [target, { log: formerLog }] as const;
      });
      return new Map<string, Pick<ReturnType<typeof createOutbox>, 'log'>>([...outboxes, ...formerLogs]);
    },
    /** Audit entries of operators. */
    acts: createActs(storeDeps),
    /** Last check of the hash chains of the logs. */
    logChecks: createLastLogChecks(storeDeps),
    /** Detects that Redis came back with older data. */
    olderData: createOlderData(storeDeps, targets),
    /** Backup and restore of the connection. */
    archive: createArchive(storeDeps),
    /** Desired users and groups. */
    directory: createDirectory(storeDeps, {
      targets,
      rulesReadGroups,
      events,
      uniqueExternalIds: options.uniqueExternalIds,
    }),
    /** Accounts and groups at the targets to which the resources are linked. */
    links: createLinks({ ...storeDeps, elsewhere: elsewhereOf(deps, known, options) }),
    /** Proof that derived data agrees with the records. */
    proof: createProof(storeDeps, { targets, rulesReadGroups }),
    /** Removal of the data of persons who are no longer pushed. */
    personData: createPersonData(storeDeps, {
      targetsOf: async () => [...targets, ...(await formerTargets())],
    }),
    /** Orders to forget a person that are not complete. */
    forgetOrders: createForgetOrders(storeDeps),
    /** Inbound tokens that operators created. */
    tokens: createStoredTokens(storeDeps),
    /** Security events that are not yet delivered. */
    events: createEventStream(storeDeps),
    /** Marks, leases, links, pending memberships, guard and provisioning log, by target, like the four maps below. */
    outboxes,
    /** Counts of the resources of each kind by state. */
    coverage: atEach((target) => createCoverageReader(storeDeps, { target, targets, rulesReadGroups })),
    /** Differences that a comparison with the platform found. */
    drifts: atEach((target) => createDriftNotes(storeDeps, { target })),
    /** Reconcile runs. */
    runs: atEach((target) => createRunStore(storeDeps, { target })),
    /** Handed-over work of closed accounts. */
    handovers: new Map(
      [...outboxes].map(([target, outbox]) => [
        target,
        createHandoverStore({ ...storeDeps, log: outbox.log }, { target }),
      ]),
    ),
    /** Redis channel on which scripts publish the name of a target with new marks. */
    channel: keys.key('marked'),
  };
}

/** Returns the store of links that other connections have to accounts and groups of a target, former connections included. */
function elsewhereOf(
  deps: { redis: Redis; scripts: Scripts },
  known: KnownTargets,
  { prefix, connection, othersOf = () => [] }: DesiredStateOptions,
): Elsewhere {
  const fleet = createFleetStore(deps, { prefix });
  return createElsewhere(deps, {
    prefix,
    connection,
    othersOf,
    formerOf: async (target) => {
      const fed = [connection, ...othersOf(target)].map((name) => ({ connection: name, target }));
      const formerFeeds = await known.former(fed);
      return formerFeeds.flatMap((feed) => (feed.target === target ? [feed.connection] : []));
    },
    // A former connection has left when no running process syncs it: during an update, one with the former settings may still run.
    hasLeft: async (other, target) =>
      isFedByNone(runningOf(await fleet.read()), { connection: other, target }),
    isEmptied: async () => (await fleet.read()).emptiedAfter !== null,
  });
}
