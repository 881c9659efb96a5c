// Verifies attribute values that no list shows: of VALUES_IN_TURN users in each run, of all in a full run. `verifyValues` returns
// the users that differ as suspects, which verify-users.ts then compares. Each user takes one call for the values and, unless the
// run reads the whole user list, one to search the number of the account, under which the platform stores the values.
import type { ObservedResource } from '../../directory/outbox/drift.ts';
import { parseLink } from '../../directory/outbox/link.ts';
import { refOf, type Ref } from '../../directory/records.ts';
import { mapBounded } from '../../support/bounded.ts';
import { differences, desiredFromLink, hasUnknownValue } from './compare.ts';
import { readDefinitions, type ReadDefinitions } from './deleted-definitions.ts';
import { usersToVerify } from './desired-users.ts';
import { unlistedAttributes } from '../../sync/diff.ts';
import { readNoted } from './look-again.ts';
import { isDrift, type PlanEntry } from '../entry.ts';
import type { ReconcileScope, ScanResult } from '../scope.ts';
import { readValues } from './platform-reads.ts';
import { createVisibility } from './shown-attributes.ts';

/** Number of users whose value list is read in each run, the longest unread first. */
const VALUES_IN_TURN = 100;

/** Findings about the values of some users. */
export type ValueLook = ReturnType<typeof createLook>;

/** Returns the findings before anything is read. @param definitions undefined: no attribute is mapped, or they could not be read */
const createLook = (definitions: ReadDefinitions | undefined) => ({
  definitions,
  /** Users whose values differ. */
  suspects: new Set<Ref>(),
  /** Number of users whose value list was read. */
  read: 0,
  /**
   * Number of users, without those found to have no managed account or no value list; 0 if the lists show every mapped attribute.
   */
  of: 0,
  /** Number of users whose values could not be read, or differ and could not be verified. */
  failed: 0,
  /** Whether a stored number (`Link.account`) is that of another account, so that the values of all users are compared. */
  areNumbersWrong: false,
  /** Position at which the next run continues; undefined: nothing was read. */
  cursor: undefined as number | undefined,
});

/**
 * Compares booleans and lists, which SCIM answers leave out (contract 2.4): of all users if `full`, or if the definition of such an
 * attribute was deleted with all its values and was not made again with another type.
 */
export async function verifyValues(scan: ScanResult, full: boolean): Promise<ValueLook> {
  const { directory, target, runs } = scan.scope;
  const look = createLook(await readDefinitions(scan));
  const unlisted = unlistedAttributes(target.mapping.types);
  if (unlisted.size === 0) return look;
  look.of = await directory.count('User');
  const { deleted, ofOtherType } = look.definitions ?? {};
  // Values of a definition of another type cannot be written, so reading all of them would be in vain.
  const isOfAll = full || [...unlisted].some((name) => deleted?.has(name) && !ofOtherType?.has(name));
  // One list costs less than a search for each person.
  const reading = isOfAll ? { ...scan, findConsoleAccounts: scan.findListedAccounts } : scan;
  const most = isOfAll ? Infinity : Math.min(VALUES_IN_TURN, look.of);
  const begin = isOfAll ? 0 : await runs.cursor('values');
  await compareInTurn(reading, { begin, most }, look);
  // With a wrong number, values may have been written to the account of any other user, so the values of all users are compared.
  return isOfAll || !look.areNumbersWrong ? look : verifyValues(scan, true);
}

/**
 * Compares the values of up to `most` users in the order of creation, from the place `begin` on. After the last user the turn goes
 * on with the first, at position 0.
 */
async function compareInTurn(
  scan: ScanResult,
  { begin, most }: { begin: number; most: number },
  look: ValueLook,
): Promise<void> {
  let left = most;
  for (const start of begin === 0 ? [0] : [begin, 0]) {
    for await (const records of scan.scope.directory.scan('User', start)) {
      const some = records.slice(0, left);
      await compareValues(
        scan,
        some.map(({ id }) => refOf('User', id)),
        look,
      );
      look.cursor = some.at(-1)?.place ?? look.cursor;
      left -= some.length;
      if (left <= 0) return;
    }
  }
}

/** Compares the values of these users, and adds the users that differ to `look.suspects`. */
async function compareValues(scan: ScanResult, refs: Ref[], look: ValueLook): Promise<void> {
  const { drifts, concurrency, target } = scan.scope;
  const observed = await drifts.readLinks(refs);
  await mapBounded(observed, concurrency, async (each) => {
    const { ref, text } = each;
    const link = parseLink(text);
    const isManaged = link.id !== undefined && !link.departed;
    const found = isManaged ? await valuesOfLinked(scan, each) : undefined;
    // The stored number is wrong, so values of this user may have been written to the account of another person. `verifyValues`
    // then reads the values of all users.
    if (typeof found === 'object' && link.account !== undefined && found.account !== link.account) {
      look.areNumbersWrong = true;
      look.suspects.add(ref);
    }
    const values = typeof found === 'object' ? found.values : found;
    // There is no managed account, or the tenant has no value list.
    if (values === undefined) look.of--;
    // 'unknown': a call failed. The user still counts in `of`, so the report says that not all values were read.
    if (values === 'unknown') look.failed++;
    if (values === undefined || values === 'unknown') return;
    look.read++;
    scan.onProgress({ phase: 'values', done: look.read, total: look.of });
    const { types } = target.mapping;
    // Only the record says what is desired for a value that the link does not name.
    const isUnknown = hasUnknownValue(link, types, (name) => values.get(name));
    const mapped = isUnknown ? (await usersToVerify(scan.scope, [each])).get(ref)?.wanted : undefined;
    const { attributes } = mapped ?? desiredFromLink(link);
    const wanted = { inScope: true, active: true, core: {}, attributes };
    // Only attributes can differ: `wanted` has no core attributes, and both sides are active.
    const account = { id: link.id ?? '', userName: '', active: true };
    if (differences(wanted, account, link, types, createVisibility(), values).length > 0)
      look.suspects.add(ref);
  });
}

/** Returns what `readValues` returns for a linked user, whose account is found by the userName and externalId of the link. */
export function valuesOfLinked(scan: ScanResult, user: ObservedResource): ReturnType<typeof readValues> {
  const link = parseLink(user.text);
  const { id = '', core: { userName, externalId } = {} } = link;
  const shown = { id, userName: String(userName), ...(externalId && { externalId: String(externalId) }) };
  return readNoted(
    scan,
    user,
    (own) => readValues(own, link, shown),
    (values) => values === 'unknown',
  );
}

/**
 * Returns whether one of the differences of a user is in a value that no list of the platform shows, and there are more than
 * VALUES_IN_TURN users. Then only one of several runs reads the values of this user and finds the difference.
 */
export async function isFoundInTurn(
  { directory, target }: Pick<ReconcileScope, 'directory' | 'target'>,
  differences: readonly PlanEntry[],
): Promise<boolean> {
  const unlisted = unlistedAttributes(target.mapping.types);
  const isUndefined = (attribute: string): boolean =>
    differences.some(({ action, name }) => action === 'defineAttribute' && name === attribute);
  // A run that finds a definition missing reads the values of all users, so such a difference waits for no turn.
  const isAny = differences.some(
    (entry) =>
      isDrift(entry) &&
      entry.kind === 'User' &&
      entry.attribute !== undefined &&
      unlisted.has(entry.attribute) &&
      !isUndefined(entry.attribute),
  );
  return isAny && (await directory.count('User')) > VALUES_IN_TURN;
}
