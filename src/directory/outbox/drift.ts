// Stores what a reconcile run found at the platform: suspected drift, which the next sync of the resource repairs (`note`);
// unconfirmed removals that a read of the group confirms; values that the platform has already (`noteApplied`); and fingerprints of
// accounts that are equal to their links, which later runs need not compare again. Also reads links, marks and deletions for the
// comparison. Nothing here writes to the platform.
import { hash } from 'node:crypto';
import { parseLink, parseReverseLink, readableLink, type Link } from './link.ts';
import { PRIORITIES, parseRef, refOf, type Kind, type Priority, type Ref } from '../records.ts';
import { inPortions, readInPortions } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** Suspected drift of one resource, with the versions that it was computed from. */
export interface Drift {
  ref: Ref;
  /** Version of the record; 0 = there is none. */
  version: number;
  /** `hashOfLink` of the link's text. */
  link: string;
  /** Core paths and `attributes.<name>` that differ at the platform; they are written again. */
  names: string[];
  /** Values of `names` at the platform. */
  observed: Record<string, unknown>;
  /** Members that only the source has. */
  add: string[];
  /** Members of `add` whom somebody took out at the platform. */
  takenOut?: string[];
  /** Members that only the platform has. */
  remove: string[];
  /** Members that the platform's group does not have any more. Their pending, held or rejected removals end. */
  done?: string[];
  priority: Priority;
}

/** `stale`: record or link changed since the difference was seen. `busy`: a sync is running. */
export type Noted = 'applied' | 'stale' | 'busy';

/** Members of a group whose unconfirmed removal (lua/signs.lua) a read of the group confirms. */
export interface ConfirmedRemovals extends Pick<Drift, 'ref' | 'link'> {
  /** The members, as member-names.ts names them. */
  users: string[];
}

/** Stored link and mark of a resource. */
export interface ObservedResource {
  ref: Ref;
  /** Text of the link; '' when there is none. */
  text: string;
  marked: boolean;
}

/** Fingerprint of an account that was equal to its link. */
export interface Print {
  ref: Ref;
  platformId: string;
  /** `hashOfLink` of the link's text. */
  link: string;
  /** The fingerprint: a hash of the account as a list of the platform showed it. */
  print: string;
}

/** A link with values that the platform has already, and the versions that it was computed from. */
export interface AppliedLink extends Pick<Drift, 'ref' | 'version' | 'link'> {
  /** The new text of the link. */
  text: string;
}

/** Thrown when another reconcile run took the lock; this run must stop without writing. */
export class RunLost extends Error {
  override name = 'RunLost';
}

/** Largest number of drifts or links that one script stores. */
const PORTION = 200;
/** Largest number of refs, or of members, in one command. */
const READ_PORTION = 1000;

/** Returns the hash by which the scripts notice that a link was written meanwhile. @param text stored text of the link */
export const hashOfLink = (text: string): string => hash('sha1', text);

export type DriftNotes = ReturnType<typeof createDriftNotes>;

export function createDriftNotes(deps: StoreDeps, options: { target: string }) {
  const { redis, scripts, keys } = deps;
  const { target } = options;
  const key = (family: string): string => keys.key(family, target);

  /**
   * Stores the drifts and marks their resources.
   * @returns the outcome of each drift, in the given order
   * @throws RunLost when `fence` is not that of the current run
   */
  async function note(drifts: Drift[], request: string, fence?: string): Promise<Noted[]> {
    const outcomes: Noted[] = [];
    for (const portion of inPortions(drifts, PORTION)) {
      const wire = portion.map((drift) => ({
        ...drift,
        ...parseRef(drift.ref),
        observed: JSON.stringify(drift.observed),
        priority: PRIORITIES.indexOf(drift.priority),
      }));
      const args = { target, targets: [target], request, fence, drifts: wire };
      const [tag, ...noted] = await scripts.run('apply_drift', keys.base, args);
      if (tag === 'fenced') throw new RunLost('another reconcile run has taken over');
      outcomes.push(...(noted as Noted[]));
    }
    return outcomes;
  }

  /**
   * Ends the unconfirmed removals of members whom a read of their group did not show. `link`: `hashOfLink` of the group's link
   * before the read.
   */
  async function confirmRemovals({ ref, link, users }: ConfirmedRemovals): Promise<void> {
    for (const portion of inPortions(users, READ_PORTION))
      await scripts.run('confirm_removals', keys.base, {
        target,
        ref,
        id: parseRef(ref).id,
        link,
        users: portion,
      });
  }

  /** Stores links with more applied values. @returns whether all were stored; else a link or record changed, or a sync is due */
  async function noteApplied(links: readonly AppliedLink[]): Promise<boolean> {
    let stored = 0;
    for (const portion of inPortions(links, PORTION)) {
      const wire = portion.map(({ ref, version, link }) => ({ ref, ...parseRef(ref), version, link }));
      const texts = portion.map(({ text }) => text);
      const [noted] = await scripts.values('note_applied', keys.base, { target, links: wire }, ...texts);
      stored += Number(noted);
    }
    return stored === links.length;
  }

  /** Stores fingerprints of accounts that are equal to their links; a write of the link deletes them. */
  async function notePrints(prints: Print[]): Promise<void> {
    const wire = prints.map(({ platformId, ref, link, print }) => [`User:${platformId}`, ref, link, print]);
    if (wire.length > 0) await scripts.run('note_prints', keys.base, { target, prints: wire });
  }

  /** Returns positions in `seen` of the accounts whose fingerprint changed, whose link was written since, or that are marked. */
  async function unlikePrints(seen: { platformId: string; print: string }[]): Promise<number[]> {
    const platformKeys = seen.map(({ platformId }) => `User:${platformId}`);
    const prints = seen.map(({ print }) => print);
    const others = await scripts.values('known_equal', keys.base, { target, platformKeys, prints });
    return others.map(Number);
  }

  /** Returns link text and mark of each ref in the given order; those of one ref are read at the same moment. */
  const readLinks = (refs: readonly Ref[]): Promise<ObservedResource[]> =>
    readInPortions(refs, READ_PORTION, async (portion) => {
      const read = await scripts.values('read_observed', keys.base, { target, refs: portion });
      const [links, marks] = read as (string | null)[][];
      return portion.map((ref, index) => ({
        ref,
        text: links?.[index] ?? '',
        marked: typeof marks?.[index] === 'string',
      }));
    });

  /** Returns the resource that is linked to each platform id, in the order given; undefined: there is none. */
  async function linkedTo(kind: Kind, platformIds: string[]): Promise<(ObservedResource | undefined)[]> {
    if (platformIds.length === 0) return [];
    const fields = platformIds.map((id) => `${kind}:${id}`);
    const texts = await redis.hmget(key('linked'), ...fields);
    const found = texts.map((text) => (text === null ? undefined : parseReverseLink(text)));
    const known = found.flatMap((reverse) => (reverse ? [reverse.ref] : []));
    const observedByRef = new Map((await readLinks(known)).map((each) => [each.ref, each]));
    return found.map((reverse, index) => {
      const observed = reverse && observedByRef.get(reverse.ref);
      if (!observed) return undefined;
      // The reverse link may be out of date, so the link itself is compared. A damaged link may have this id.
      const link = readableLink(observed.text);
      return !link || link.id === platformIds[index] ? observed : undefined;
    });
  }

  /** Returns the refs that have a mark. */
  const stillMarked = (refs: readonly Ref[]): Promise<Ref[]> =>
    readInPortions(refs, READ_PORTION, async (portion) => {
      const marks = await redis.hmget(key('marks'), ...portion);
      return portion.filter((_, index) => marks[index] !== null);
    });

  /** Returns whether the resource was deleted at the source, rather than never pushed. */
  async function deletedAtSource(id: string): Promise<boolean> {
    return (await redis.hexists(keys.key('tombstones'), id)) === 1;
  }

  /** Returns when the source deleted each user, Unix milliseconds, in the order given; undefined: it did not. */
  async function deletionTimes(ids: readonly string[]): Promise<(number | undefined)[]> {
    const texts = ids.length === 0 ? [] : await redis.hmget(keys.key('tombstones'), ...ids);
    return texts.map((text) =>
      text === null ? undefined : (JSON.parse(text) as { deletedAt: number }).deletedAt,
    );
  }

  /** Returns the desired members of a group, and their links without attribute values. */
  async function membersOf(group: string): Promise<{ user: string; link: Link }[]> {
    const users = await redis.smembers(keys.key('members', group));
    return readInPortions(users, READ_PORTION, async (portion) => {
      const links = await redis.hmget(key('links'), ...portion.map((user) => refOf('User', user)));
      return portion.map((user, index) => {
        const { attributes: _values, ...link } = parseLink(links[index] ?? '');
        return { user, link };
      });
    });
  }

  return {
    note,
    confirmRemovals,
    notePrints,
    noteApplied,
    unlikePrints,
    readLinks,
    linkedTo,
    stillMarked,
    membersOf,
    deletedAtSource,
    deletionTimes,
  };
}
