// Defines a UserScan: what the read of the whole user list has found, page by page, and what is left to be verified.
import { noCoverage } from '../../directory/outbox/coverage.ts';
import type { AppliedLink } from '../../directory/outbox/drift.ts';
import type { Ref } from '../../directory/records.ts';
import type { WireUser } from '../../platform/wire.ts';
import { noAccounts } from '../compare/strangers.ts';
import type { VerifiedResource } from '../compare/verified.ts';
import type { Cover } from './cover.ts';
import type { ProofKeeper } from './list-proof.ts';

export type UserScan = ReturnType<typeof createUserScan>;

/** Returns the findings before the list is read. @param covering reads stored records in parallel to the list */
export const createUserScan = (
  reader: ProofKeeper<WireUser>,
  hasMoved: boolean,
  covering: Promise<Cover>,
) => ({
  proof: reader.verdict(),
  coverage: noCoverage(),
  covering,
  /** Number of listed accounts whose link is not departed and has no mark and no condition. */
  matched: 0,
  /** Counts by which tenant.ts recognises the tenant. */
  recognition: { linked: 0, same: 0, other: 0, strangers: 0, namesakes: 0, hasMoved },
  /** Users to verify one by one, because they differ or were not shown; with the names of the differing values, [] if not known. */
  suspects: new Map<Ref, string[]>(),
  /**
   * Suspects whose attribute values are read by a further call: all values of an attribute seem to be lost (findLost), or the list
   * does not prove a value that the link lacks.
   */
  valued: new Set<Ref>(),
  /** Pending changes and changes of the mapping, which need no verification. */
  settled: [] as VerifiedResource[],
  /**
   * Pending changes and changes of the mapping of suspects. They join `settled` if all other differences of the suspect are of
   * values that the user list never returns.
   */
  besides: new Map<Ref, VerifiedResource>(),
  /** Links of users without difference, with values that the platform has already and their stored links lack. */
  asApplied: [] as AppliedLink[],
  /**
   * Users whose listed account was compared with their mapped record, or cannot be judged from the list (then they are suspects).
   * The others who need a comparison are added to `unseen` after the last page.
   */
  seen: new Set<Ref>(),
  /** Marked, lost or newly mapped users that were not compared with a listed account. */
  unseen: new Set<Ref>(),
  /**
   * Listed accounts whose name a user without account may want: unmanaged ones, and those of users who left (`former`) and of other
   * connections (`taken`).
   */
  strangers: { ...noAccounts(), former: noAccounts(), taken: noAccounts() },
  /** The unmanaged accounts of `strangers`, as platform id to userName. */
  unmanaged: new Map<string, string>(),
  /** Returns whether the list showed the account. */
  isListed: (platformId: string): boolean => reader.has(platformId),
});
