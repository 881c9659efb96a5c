// Builds the Redis keys of a connection: base + family [+ ':' + id]. Lua scripts use the same rule (lua/keys.lua). The
// braces are a Redis Cluster hash tag: all keys of one connection are on one node, so that one script can change them.

/**
 * Content of each family. `<t>` is a target's name, a ref is `User:<id>` or `Group:<id>`. A folded value is in NFC and lower
 * case, the form in which names are compared. A row that ends with `base x` has `x` in place of the connection's name. House
 * words such as mark, link and held: docs/glossary.md.
 *
 * | family | type | content |
 * |---|---|---|
 * | users, groups | hash | id → stored record (records.ts) |
 * | order:User, order:Group | zset | ids in order of creation |
 * | userNames, externalIds:User, externalIds:Group, displayNames | hash | folded value → id: unique |
 * | sharedExternalIds:User | hash | externalId that another user has too → ids joined by commas, without the first holder |
 * | emails | hash | folded address that is not the userName → ids joined by commas: not unique |
 * | groupNames | hash | group id → displayName as written |
 * | members:<group> | set | ids of users; the authoritative side of memberships (docs/proof.md) |
 * | groupsOf | hash | user id → ids of groups joined by commas; derived from `members` |
 * | unresolved:<group> | hash | member value without a stored user → its folded form |
 * | references:<raw or folded value> | set | `<group> <value>` that waits for a user with this value |
 * | tombstones | hash | id → kind, version and time of the deleted resource |
 * | sequence | string | one counter for order, generations, deliveries and fences |
 * | marks:<t> | hash | ref → dirty mark: `generation since request` |
 * | accepted:<t> | zset | refs that were handed to the queue, by the `since` of their marks; the lag of the target is the age of the oldest in `accepted` or `dirty` |
 * | dirty:<t> | zset | refs to be handed to the queue, by priority and due time; behind all priorities those that wait for a held change of another resource or for a refused group |
 * | inflight:<t> | zset | ref by the time at which its job or its worker counts as lost |
 * | deliveries:<t> | hash | ref → `deliveryId priority` of the job that waits in the queue, `- priority` while it runs |
 * | lease:<t>:<ref> | string | fence of the worker that syncs the ref |
 * | synced:<t>:User, synced:<t>:Group | set | ids of synced resources: the link has the basis of the record, and nothing waits to be written (lua/synced.lua) |
 * | syncedTargets | string | the targets at which the last change left marks |
 * | links:<t> | hash | ref → link (link.ts); `linked:<t>` has the reverse links: `<kind>:<platform id>` → ref, with the fingerprint of an account that was equal to its link |
 * | suspectedDrift:<t> | hash | ref → names (as in Link.unsure) of values that differed at the platform |
 * | observedDrift:<t> | hash | ref → these names with the values that the platform had, for the log |
 * | proofLast, proofTurn | string | findings of the last proof of derived data; lock that exists for a while after a proof |
 * | runs | string | one counter for the fences of reconcile runs |
 * | run:<t> | string | fence of the reconcile run that is under way |
 * | reconcile:<t> | hash | outcome of the last run, and positions of the slow reads (runs.ts) |
 * | load:<t>, loadDone:<t>, loadSamples:<t> | hash, set, list | during a load: start; refs that were synced and have no mark; their number at times of the last minute (lua/load.lua) |
 * | mapped:<t> | string | digest of the rules of the last run that mapped all users; `repaired` and a number after a repair, `anew` and a number when the next run has to map everything, `returned` and a number when the target came back into the settings (note_anew.lua) |
 * | tenant:<t> | set | addresses at which the linked accounts were recognised; at another address nothing is written |
 * | definitions:<t> | hash | attribute of a type that no list of the platform shows → id of its definition; '' while values are lost, because the definition was deleted (known-definitions.ts) |
 * | renamed:<t> | hash | very large group with a new name → cursor of the members that are still to be marked (lua/renamed.lua) |
 * | groupsSeen:<t> | hash | ref → the platform's time of change when a group's members were found equal |
 * | pendingMembers:<t>:<group>, pendingGroups:<t>:<user> | hash | signs (lua/signs.lua): `+` to add; `-` to remove; `r` a removal that is not written, because it or the deactivation of the deleted user was rejected, or the user is protected; `u` a removal that was written and not seen yet; a field `@<platform id>` of pendingMembers is an unmanaged member (member-names.ts) |
 * | unmanagedNames:<t> | zset | `@<platform id> userName` of unmanaged members whose removal was judged or written, by time; for a month (unmanaged-names.ts) |
 * | unsentMembers:<t>:<group> | set | users whose addition to the group was never sent, or was refused: it is pending, and if the source removes them again, nothing is written (lua/pending_groups.lua); or the policy `create-only` left it out |
 * | takenOutMembers:<t>:<group> | set | users whose addition to the group is pending because a comparison found that somebody took the user out at the platform (apply_drift.lua) |
 * | heirs:<t> | hash | ref → refs, joined by spaces, that wait for its name or account (lua/heirs.lua) |
 * | blocked:<t> | zset | dead letters: refs by time |
 * | exceptions:<t>:<reason> | zset | refs that differ from the desired state until a person acts, by time (exceptions.ts) |
 * | exceptionReasons:<t> | hash | ref → reason whose list has the ref |
 * | alarms:<t> | zset | ref by the time of its next sync without a change |
 * | hold:<t> | string | time, holder (an operator, a reconcile run, or scim-bridge after a loss of data) and note of a hold (lua/holds.lua); one because of another tenant is in force for all connections of the target |
 * | dataSeen | string | last time at which a process looked whether Redis has lost data (find_older_data.lua) |
 * | handovers:<t> | zset | users whose work was handed over or moved back, by time |
 * | handover:<t>:<ref> | hash | `head`, and `TYPE:id` of each item → its former place and its state (handover-store.ts) |
 * | memberCount | string | number of all memberships |
 * | memberSum | hash | during a proof: the sum that memberCount is compared with, and the groups that it contains |
 * | readding:<t> | hash | during a repair: group whose link was restored → cursor of the members that are written again |
 * | rebuilding | set | during a repair: groups whose lost member set is being restored |
 * | gone:User, gone:Group | zset | ids of deleted resources by time, for a month |
 * | guardUsed:<t>:<kind> | zset | destructive writes that the guard allowed without an approval, by time; an item is `ref` or `ref subject` |
 * | guardWaiting:<t> | set | users whose deactivation is accepted and not applied yet |
 * | guardHeld:<t>:<kind> | zset | items held for approval, by place (a number of `sequence`) |
 * | guardApproval:<t> | hash | the open approval: serial (its items have higher places), opened, expires |
 * | guardApproved:<t>:<kind>, guardRejected:<t>:<kind> | zset | items by end of the approval; items by number of the decision that rejected them |
 * | guardItems:<t>:<ref> | set | `kind subject` of all held, approved and rejected items of the ref |
 * | guardFirst:<t> | hash | with two approvers: source and id of a list → the first approval (first-approvals.ts) |
 * | guardDecisions:<t> | list | decisions of operators, newest first |
 * | guardDeciding:<t> | hash | what the last decision still has to move (guard_move.lua) |
 * | guardChoice:<t>:<id> | list | `kind item` of the changes that a decision about a part of a list covers |
 * | log:<t>, acts | stream | the provisioning log (provisioning-log.ts), and the audit log of operators (acts.ts) |
 * | logChain:<t>, actsChain | hash | ends of the log's hash chain: `start`, the hash before the oldest entry, and `end` |
 * | logFirst:<t>, actsFirst | string | id of the log's oldest entry at the first append; shows that the log was deleted as a whole |
 * | logPersonal:<t>, actsPersonal | hash | entry id → personal data (chained-stream.ts) |
 * | logChecks | string | result of the last check of the hash chains of the logs (last-log-check.ts) |
 * | forgetting | hash | ref → order to forget a person that is not complete, with their names (person-data.ts) |
 * | wholeReads | set | ids of the readers of whole logs; no entry is removed until they end (whole-read.ts) |
 * | reconcileWrites:<t> | hash | action → number of writes that all runs together have ordered |
 * | tokens, tokenUses | hash | name → inbound token as a digest (stored-tokens.ts); name → time of last use |
 * | events, eventsRefused | stream | security events to be delivered; those that the receiver refused (event-stream.ts) |
 * | eventCounts | hash | numbers of delivered, refused and dropped events, time of the last drop, and the last delivery error |
 * | eventsLease | string | the process that pushes events |
 * | claim:<t>:<kind>:<platform id> | string | connection and ref that is about to be linked; base `target.<t>` |
 * | budget:<t>, paused:<t> | string | request budget of a target; cause and end of a pause of its calls (budget.ts; `<t>.<print>` for a command with other settings); base `target.<t>` |
 * | externalId:<t>:<digest> | string | exists for a while after an account got this externalId; base `target.<t>` |
 * | processes, lastBeats, versionsDifferSince, settingsDifferSince | hash, hash, string, string | processes of the service by id, the last beat by duty, since when versions and settings differ (fleet-store.ts); base `bridge.fleet` |
 * | knownTargets, removedTargets | hash | `connection target` → whether the settings have it (known-targets.ts); the same → number of its links, open accounts and groups; base `bridge.fleet` |
 * | ring:<range>:<kind>.<name>, levelsRead | hash, string | history for plots: position → `slot,value,value` (history/slots.ts); lock that exists for a while after a read of the levels; base `bridge.history` |
 * | emptied | string | Redis came back empty: time of the last data that a process saw before, for a day (fleet-store.ts); base `bridge.fleet` |
 * | dataVersion, restoring, restoreLease | string | version of the data under this prefix; start and owner of a restore that has not ended; the restore that runs (data-version.ts); base `bridge.fleet` |
 * | breaker:<t>, resumed:<t> | hash, string | consecutive failed calls; while open also the time of opening and of the next probe; the time at which the breaker closed, for two minutes; `<t>.<print>` as for `paused`; base `target.<t>` |
 * | notices:<channel> | hash | reported conditions, the message that is being sent, and results of deliveries (notice-store.ts); base `bridge.notices` |
 * | noticesLease:<channel> | string | the process that sends to the channel; base `bridge.notices` |
 * | session:<digest> | string | session of a person who is signed in to the operators' page (sessions.ts); base `bridge.sessions` |
 * | operations, operation:<id>, operationResult:<id>, operationCancel:<id> | zset, string, string, string | ids of long operations of the admin API by start; state, result, and reason of the cancellation of one of them (operations.ts); base `bridge.operations` |
 */
export interface Keyspace {
  /** Common start of all keys of the connection, with the hash tag. */
  base: string;
  /** Returns the key of a family, or of a family and an id. */
  key(family: string, id?: string): string;
}

/** @param connection name of the connection, or the `x` of a row that ends with `base x` */
export function createKeyspace(prefix: string, connection: string): Keyspace {
  const base = `${prefix}:{${connection}}:`;
  return { base, key: (family, id) => (id === undefined ? base + family : `${base}${family}:${id}`) };
}
