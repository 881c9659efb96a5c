// One running sync: the work, the link as it grows, and the calls that keep both true.
import type { Directory } from '../directory/resources/directory.ts';
import type { Link, Links } from '../directory/outbox/links.ts';
import type { Outbox } from '../directory/outbox/outbox.ts';
import type { SaveOptions, DueWork } from '../directory/outbox/work.ts';
import type { Destruction, Permission } from '../directory/guard/guard-store.ts';
import type { CallOptions } from '../platform/client.ts';
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import type { ProvisioningWriter, Why, WriteDetail } from './provisioning-writer.ts';
import type { Target } from './target.ts';

/** Answers of the guard in one sync (gate.ts). */
export interface Gate {
  /** Asked for and not let through. */
  refused: { item: Destruction; permission: Exclude<Permission, 'allowed'> }[];
  /** Removals of members whose account is held: they are decided with it. */
  followers: number;
  /** The deactivation is held because no other active administrator would be left. */
  isLastAdministrator: boolean;
  /** Remark for the log entry when the account is closed. */
  remark?: Why;
  /** The account was deactivated in this sync. */
  closed: boolean;
  /** Another resource of ours gives up what this one needs only when a person has decided. */
  isBehindHold: boolean;
}

export interface SyncContext {
  work: DueWork;
  /** Starts as stored and is changed in place as the platform confirms steps. */
  link: Link;
  target: Target;
  outbox: Outbox;
  links: Links;
  /** Desired state of other resources: read only. */
  directory: Pick<Directory, 'get' | 'lookup' | 'identifies'>;
  clock: Clock;
  logger: Logger;
  /** Passed to every call: abort signal and correlation id of the push. */
  call: CallOptions & { signal: AbortSignal };
  /** Answers of the guard so far. */
  gate: Gate;
  /** Entries for the provisioning log. */
  journal: ProvisioningWriter;
  /** Writes sent so far. */
  writes: number;
  /** Keeps the link and the lease; call after every step that must not be forgotten. */
  save(options?: SaveOptions): Promise<void>;
  /**
   * Writes `names` (core paths, `attributes.<name>`): they count as unsure from before the call until it is answered.
   * The caller then notes the new values in the link and saves it. `why` is told with it where there is more to say.
   */
  attempt<T>(names: string[], operation: string, run: () => Promise<T>, why?: Why): Promise<T>;
  /** Runs one write: the lease must still be ours, and the write is logged and counted. */
  write<T>(operation: string, run: () => Promise<T>, detail?: WriteDetail): Promise<T>;
}
