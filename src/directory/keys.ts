// Builds the Redis keys of a connection: base + family [+ ':' + id]. Lua scripts use the same rule (lua/keys.lua). The
// braces are a Redis Cluster hash tag: all keys of one connection are on one node, so that one script can change them.

/**
 * Content of each family. `<t>` is a target's name, a ref is `User:<id>` or `Group:<id>`.
 *
 * | family | type | content |
 * |---|---|---|
 * | users, groups | hash | id → stored record (records.ts) |
 * | order:User, order:Group | zset | ids in order of creation |
 * | userNames, externalIds:User, externalIds:Group, displayNames | hash | folded value → id: unique |
 * | sharedExternalIds:User | hash | externalId that another user has too → ids joined by commas, without the first holder |
 * | emails | hash | folded address that is not the userName → ids joined by commas: not unique |
 * | groupNames | hash | group id → displayName as written |
 * | members:<group> | set | ids of users: this side says who is in a group (docs/proof.md) |
 * | groupsOf | hash | user id → ids of groups joined by commas: the other direction |
 * | unresolved:<group> | hash | member value whose user is not there yet → its folded form |
 * | references:<raw or folded value> | set | `<group> <value>` waiting for such a user |
 * | tombstones | hash | id → what was deleted and when |
 * | sequence | string | one counter for order, generations, deliveries and fences |
 * | marks:<t> | hash | ref → `generation since request`: this ref is not yet equal at the target |
 * | accepted:<t> | zset | refs that were handed to the queue, by the `since` of their marks: the oldest of them, or of those in `dirty`, is how far the target is behind |
 * | dirty:<t> | zset | ref by priority and due time: to be handed to the queue |
 * | inflight:<t> | zset | ref by the moment at which its job or its worker counts as lost |
 * | deliveries:<t> | hash | ref → `deliveryId priority` of the job that waits in the queue, `- priority` while it runs |
 * | lease:<t>:<ref> | string | fence of the worker that syncs the ref |
 * | synced:<t>:User, synced:<t>:Group | set | ids that are in line with their link and not marked (lua/synced.lua) |
 * | syncedTargets | string | the targets that the last store marked |
 * | links:<t> | hash | ref → link (links.ts); linked:<t> is the way back from platform ids: ref, with the print of an account that was found equal |
 * | suspectedDrift:<t> | hash | ref → names (as in Link.unsure) that the platform was seen to hold differently |
 * | observedDrift:<t> | hash | ref → these names with the values that the platform had, for the log |
 * | proofLast, proofTurn | string | what the last pass over derived data found; that one was made a while ago |
 * | runs | string | one counter for the fences of reconcile runs |
 * | run:<t> | string | fence of the reconcile run that is under way |
 * | reconcile:<t> | hash | how the last run ended, and how far the slow reads have come (runs.ts) |
 * | load:<t>, loadSamples:<t> | hash, list | while many resources are marked: start and how many are done; how many were done at moments of the last minute (lua/load.lua) |
 * | mapped:<t> | string | digest of the rules by which everybody was mapped last; `repaired` after a repair |
 * | tenant:<t> | set | addresses at which the linked accounts were recognised; at another one nothing is written |
 * | groupsSeen:<t> | hash | ref → the platform's time of change when a group's members were found equal |
 * | pendingMembers:<t>:<group>, pendingGroups:<t>:<user> | hash | memberships still to be added (+) or removed (-); a field `@<platform id>` of pendingMembers is a member without a resource of ours |
 * | blocked:<t> | zset | refs whose sync needs a person, by time |
 * | exceptions:<t>:<reason> | zset | refs that stay otherwise than desired until a person acts, by time (exceptions.ts) |
 * | exceptionReasons:<t> | hash | ref → the reason of its list of exceptions |
 * | alarms:<t> | zset | ref by the moment at which to look again although nothing changed |
 * | hold:<t> | string | who ordered that nothing is written, and when |
 * | handovers:<t> | zset | users whose work was handed over or given back, by time |
 * | handover:<t>:<ref> | hash | `head`, and an item's `TYPE:id` → its place before, and what became of it (handover-store.ts) |
 * | memberCount | string | number of all memberships |
 * | memberSum | hash | while a proof runs: the sum by which it checks memberCount, and the groups that are in it |
 * | readding:<t> | hash | during a repair: group whose link was made again → cursor of the members that are to be written again |
 * | rebuilding | set | during a repair: groups whose lost member set is being made again |
 * | gone:User, gone:Group | zset | ids of deleted resources by time, for a month |
 * | guardUsed:<t>:<kind> | zset | destructive writes made unasked, by time; an item is `ref` or `ref subject` |
 * | guardWaiting:<t> | set | users whose deactivation is accepted and not applied yet |
 * | guardHeld:<t>:<kind> | zset | items held for approval, by place (a number of `sequence`) |
 * | guardApproval:<t> | hash | what is held at present: serial (items placed behind it are its own), opened, expires |
 * | guardApproved:<t>:<kind>, guardRejected:<t>:<kind> | zset | items by end of the approval; items by serial of the approval under which they were held |
 * | guardItems:<t>:<ref> | set | `kind subject` of everything above that concerns the ref |
 * | guardFirst:<t> | hash | where two persons have to approve: source and id of a list → the first approval (first-approvals.ts) |
 * | guardDecisions:<t> | list | who approved or rejected what, newest first |
 * | guardDeciding:<t> | hash | what the last decision still has to move (guard_move.lua) |
 * | guardChoice:<t>:<id> | list | `kind item` of the changes that a decision about a part of a list covers |
 * | log:<t>, acts | stream | the provisioning log (provisioning-log.ts), and what operators ordered (acts.ts) |
 * | logChain:<t>, actsChain | hash | both ends of its hash chain: `start`, the hash before the oldest entry, and `end` |
 * | logPersonal:<t>, actsPersonal | hash | entry id → its personal data (personal-part.ts) |
 * | logChecks | string | what the last check of the hash chains of the logs found (last-log-check.ts) |
 * | logReaders | string | number of readers of whole logs; entries that are too old stay until they end (whole-read.ts) |
 * | reconcileWrites:<t> | hash | action → how many of them all runs together have ordered |
 * | tokens, tokenUses | hash | name → inbound token as a digest (stored-tokens.ts); name → time of last use |
 * | events, eventsRefused | stream | security events to be delivered; those that the receiver refused (event-stream.ts) |
 * | eventCounts | hash | what became of the events of this connection, and why the receiver cannot be reached |
 * | eventsLease | string | who pushes events at the moment |
 * | claim:<t>:<kind>:<platform id> | string | connection and ref that is about to link it; base as of budget |
 * | budget:<t>, paused:<t> | string | request budget of a target; its base is `target.<t>` instead of a connection |
 * | externalId:<t>:<digest> | string | this externalId was given to an account lately; same base |
 * | processes, lastBeats, versionsDifferSince | hash, hash, string | processes of the service by id, the last beat by duty, since when versions differ (fleet-store.ts); base `bridge.fleet` |
 * | ring:<range>:<kind>.<name>, levelsRead | hash, string | history for plots: place → `slot,value,value` (history/slots.ts); the levels were read a moment ago; base `bridge.history` |
 * | dataVersion | string | version of the data under this prefix (data-version.ts); same base |
 * | breaker:<t> | hash | failed calls in a row; while open also since when, and when the next probe may go; same base |
 * | notices:<channel> | hash | what the receiver of notices was told, the message under way, and how deliveries ended (notice-store.ts); base `bridge.notices` |
 * | noticesLease:<channel> | string | who sends to the channel at the moment; same base |
 */
export interface Keyspace {
  /** Common start of all keys of the connection, with the hash tag. */
  base: string;
  key(family: string, id?: string): string;
}

export function createKeyspace(prefix: string, connection: string): Keyspace {
  const base = `${prefix}:{${connection}}:`;
  return { base, key: (family, id) => (id === undefined ? base + family : `${base}${family}:${id}`) };
}
