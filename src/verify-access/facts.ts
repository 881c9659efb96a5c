// Defines the facts about one user at one target from which the report of verify-access is made.
import type { Link } from '../directory/outbox/link.ts';
import type { Unrecognised } from '../directory/outbox/recognition.ts';
import type { FoundResource } from '../ops/find.ts';
import type { Restored } from '../reconcile/tenant/restored.ts';
import type { SyncPolicy } from '../sync/target.ts';
import type { Reading } from './account.ts';
import type { DesiredAccess } from './desired-access.ts';
import type { LastWrites } from './last-write.ts';
import type { AccessFault, AccountDifference, LeftAlone } from './report.ts';
import type { SecurityContext } from './security-context.ts';
import type { UnlinkedAccount } from './unlinked.ts';
import type { Visibility } from './visibility.ts';

export interface Facts {
  /** The name under which the operator asked for the user. */
  asked: string;
  target: string;
  /** The user as stored. */
  person: FoundResource;
  /** The access that the person is to have at the target. */
  wanted: DesiredAccess;
  /** The link; its `condition`, if any, says why the user is not as desired at the target now. */
  link: Link;
  /** Whether the settings delete the account of a leaver after its deactivation. */
  deletesLeavers: boolean;
  /** Whether the user has a mark, so that a sync is to come. */
  isMarked: boolean;
  /** Names of values that a reconcile saw to differ at the platform; the sync that is to come writes them. */
  suspectedDrift: readonly string[];
  /** The policy of the target: `create-only` and `upsert-only` leave differences. */
  policy: SyncPolicy['policy'];
  /**
   * Text about a stop of all writes to the target (a hold, a new address, or both); undefined: none. For an unrecognised target it
   * begins with how the calls fail.
   */
  stop: string | undefined;
  /** Why no account was read: the target may be another tenant; undefined: it is recognised. */
  unrecognised: Unrecognised | undefined;
  /** Whether no worker runs that applies pending changes. False while the user waits for a person (`isBehindHeld`). */
  lacksWorker: boolean;
  /** Sentences about targets that the settings no longer have, where the user is linked to an account. */
  removedTargets: readonly string[];
  /** The last restore, if the source has not pushed the person since; undefined: there was none. */
  restored: Restored | undefined;
  /** Times of the last writes of the bridge for the user, according to the provisioning log. */
  writes: LastWrites;
  /** The account at the platform; undefined: there is none, or it could not be read. */
  reading: Reading | undefined;
  /**
   * Result of the search for an account without the link. `found`: an account that the bridge does not manage. `former`: the
   * account that the person had before a re-hire, linked to an earlier record. `unnamed`: there is no name to search by. `none`:
   * there is no account. Undefined: the link leads to the account, or the search failed.
   */
  unlinked: UnlinkedAccount | undefined;
  differences: AccountDifference[];
  /** Why values of `differences` cannot be written: the platform defines their attributes with another type. */
  typeConflicts: readonly string[];
  /** Groups and values that the bridge does not bring to the account, so that no difference of them counts. */
  leftAlone: LeftAlone[];
  /** Facts about the person that the platform's row rules read; undefined without an account. */
  context: SecurityContext | undefined;
  /** Undefined: no deployment was asked, because the account is closed or missing, or a call failed. */
  visibility: Visibility | undefined;
  /** Failure that stopped the check. */
  fault: AccessFault | undefined;
  /**
   * Whether the operator named the query. If not, and without the API secret, a refused token (`notAllowed`) does not keep the
   * stage `visible` (report.ts) from success: the list of visible entities is enough for it.
   */
  isQueryAsked: boolean;
  /** Duration of the reads of Redis, milliseconds. */
  redisTookMs: number;
  /** Duration of the reads of the account, milliseconds. */
  accountTookMs: number;
}
