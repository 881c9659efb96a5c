// Caches the platform's attribute definitions and the owner of the API key. Creates missing definitions, and refuses those
// of another type.
import { EndpointAbsent, IncompleteList, PlatformError, PlatformResponse } from '../../platform/errors.ts';
import type { CallOptions, PlatformClient } from '../../platform/client.ts';
import type { ConsoleUser, UserAttribute, UserAttributeType } from '../../platform/wire.ts';
import type { Clock } from '../../support/sources.ts';

/** Definition of a mapped attribute: its id at the platform, or the reason why it cannot be written. */
export type Definition = { kind: 'ready'; id: string } | { kind: 'conflict'; message: string };

/** How the definitions of the mapped attributes differ from the mapping. */
interface DefinitionFaults {
  /** Attributes that the platform does not define. */
  missing: string[];
  /** Attributes that it defines with another type → the reason why they cannot be written. */
  conflicts: ReadonlyMap<string, string>;
  /** Attributes of `conflicts` → the id of the definition. */
  conflictIds: ReadonlyMap<string, string>;
  /** Attributes that it defines with the type of the mapping → the id of the definition. */
  ids: ReadonlyMap<string, string>;
}

export interface Catalogue {
  /** Returns the definitions of all mapped attributes by name. Cached for ten minutes; with a conflict, for one second. */
  definitions(signal: AbortSignal): Promise<Map<string, Definition>>;
  /** Reads the definitions of mapped attributes and returns those that are missing or of another type. Creates nothing. */
  faults(signal: AbortSignal): Promise<DefinitionFaults>;
  /**
   * Returns the userName of the API key's owner in lower case; the bridge never changes this account. Undefined: the key has no
   * owner, or the tenant does not tell it.
   * @throws PlatformError while the owner cannot be read
   */
  keyOwner(signal: AbortSignal): Promise<string | undefined>;
  /** Reads the key's owner unless it is known or a read has just failed. An error of the platform leaves the owner unknown. */
  seeKeyOwner(call: CallOptions): Promise<void>;
  /** Returns the key's owner as `keyOwner` if it was read; undefined otherwise. */
  knownKeyOwner(): string | undefined;
  /** Returns whether the API key belongs to an active administrator; false when unknown. */
  isOwnedByAdministrator(call: CallOptions): Promise<boolean>;
  /** Discards the cached definitions, after one turned out to be missing. */
  refresh(): void;
}

/** End of the message about a definition of another type. */
export const TYPE_ADVICE = 'a type cannot be changed there, so correct the mapping or use another name';
/** Lifetime of the cached definitions, and of the fact that the API key has no owner. */
const KEEP_MS = 600_000;
/** A definition of another type is read again after this time, because an operator may have corrected it at the platform. */
const CONFLICT_KEEP_MS = 1000;
/** Time after a failed read of the key's owner for which `seenAccount` does not read it again. */
const ASK_AGAIN_MS = 30_000;

/**
 * Creates the cache of one target for its attribute definitions and the owner of its API key; nothing is read yet.
 * @param types of the mapped attributes, by name
 */
export function createCatalogue(
  deps: { client: PlatformClient; clock: Clock; key: () => string },
  types: Record<string, UserAttributeType>,
): Catalogue {
  const { client, clock } = deps;
  let cached: { until: number; definitions: Promise<Map<string, Definition>> } | undefined;
  let owner: Promise<ConsoleUser | undefined> | undefined;
  let ownerName: string | undefined;
  /** Time of the last failed read of the owner. */
  let failedAt = Number.NEGATIVE_INFINITY;
  /** Time of the last answer that the key has no owner. */
  let absentAt: number | undefined;
  /** The key that the variables above are about. */
  let key = deps.key();

  /** Discards what is known of the owner when the key was replaced, because the new key may belong to another account. */
  function forgetFormerKey(): void {
    if (deps.key() === key) return;
    key = deps.key();
    owner = undefined;
    ownerName = undefined;
    failedAt = Number.NEGATIVE_INFINITY;
    absentAt = undefined;
  }

  /** Reads the definitions, and creates those that are missing. */
  async function load(signal: AbortSignal): Promise<Map<string, Definition>> {
    const names = Object.keys(types);
    if (names.length === 0) return new Map();
    let existing = await byName(signal);
    for (const [name, type] of Object.entries(types)) {
      if (existing.has(name)) continue;
      try {
        const made = await client.attributes.create({ name, type }, { signal });
        existing.set(made.name, made);
      } catch (error) {
        // Another process created the definition at the same time (409, or 400 at some tenants).
        if (!(error instanceof PlatformResponse) || (error.status !== 409 && error.status !== 400))
          throw error;
        // New definitions are kept, because a lagging list may not show them yet.
        existing = new Map([...existing, ...(await byName(signal))]);
        if (existing.has(name)) continue;
        // The list has no definition of this name, so the 400 was not for a duplicate: the platform refuses this definition.
        if (error.status === 400) throw error;
        // 409: the definition exists and the list lags; the next sync reads the list again.
        const counts = { seen: existing.size };
        throw new IncompleteList(`the list does not show ${name}, which exists`, counts, error);
      }
    }
    return new Map(names.map((name) => [name, judgeDefinition(name, types[name], existing.get(name))]));
  }

  /** Returns the platform's definitions by name. */
  async function byName(signal: AbortSignal): Promise<Map<string, UserAttribute>> {
    return new Map(
      (await client.attributes.list({ signal })).map((definition) => [definition.name, definition]),
    );
  }

  /** Returns the account of the API key, read once; undefined: the key has none. */
  function ownAccount(call: CallOptions): Promise<ConsoleUser | undefined> {
    forgetFormerKey();
    if (absentAt !== undefined && clock.now() - absentAt > KEEP_MS) {
      owner = undefined;
      absentAt = undefined;
    }
    if (owner) return owner;
    const asked = key;
    owner = client.accounts.me(call).then(
      (account) => {
        if (key === asked) ownerName = account.username.toLowerCase();
        return account;
      },
      (error: unknown) => {
        if (key !== asked) throw error;
        // The tenant lacks this endpoint, or the key belongs to no person. A proxy may give the same answer for a while, so
        // the endpoint is asked again after KEEP_MS.
        const absent = error instanceof PlatformResponse && [400, 403, 404].includes(error.status);
        if (absent || error instanceof EndpointAbsent) {
          absentAt = clock.now();
          return undefined;
        }
        owner = undefined;
        failedAt = clock.now();
        throw error;
      },
    );
    return owner;
  }

  const keyOwner = async (signal: AbortSignal): Promise<string | undefined> =>
    (await ownAccount({ signal }))?.username.toLowerCase();

  /** As `ownAccount`, and undefined also where the platform has just failed to tell it. */
  async function seenAccount(call: CallOptions): Promise<ConsoleUser | undefined> {
    forgetFormerKey();
    if (!owner && clock.now() - failedAt < ASK_AGAIN_MS) return undefined;
    return ownAccount(call).catch((error: unknown) => {
      if (error instanceof PlatformError) return undefined;
      throw error;
    });
  }

  return {
    definitions: (signal) => {
      if (!cached || clock.now() > cached.until) {
        const definitions = load(signal);
        const read = { until: clock.now() + KEEP_MS, definitions };
        cached = read;
        definitions.then(
          (found) => {
            const hasConflict = [...found.values()].some(({ kind }) => kind === 'conflict');
            if (hasConflict) read.until = clock.now() + CONFLICT_KEEP_MS;
          },
          () => {
            if (cached === read) cached = undefined;
          },
        );
      }
      return cached.definitions;
    },
    faults: async (signal) => {
      const names = Object.keys(types);
      const existing = names.length === 0 ? new Map<string, UserAttribute>() : await byName(signal);
      const missing = names.filter((name) => !existing.has(name));
      const conflicts = new Map<string, string>();
      const conflictIds = new Map<string, string>();
      const ids = new Map<string, string>();
      for (const name of names) {
        const found = existing.get(name);
        if (!found) continue;
        const judged = judgeDefinition(name, types[name], found);
        if (judged.kind === 'ready') ids.set(name, judged.id);
        else {
          conflicts.set(name, judged.message);
          conflictIds.set(name, found.id);
        }
      }
      return { missing, conflicts, conflictIds, ids };
    },
    keyOwner,
    seeKeyOwner: async (call) => void (await seenAccount(call)),
    knownKeyOwner: () => {
      forgetFormerKey();
      return ownerName;
    },
    isOwnedByAdministrator: async (call) => {
      const account = await seenAccount(call);
      return account?.isAdmin === true && account.isDeactivated !== true;
    },
    refresh: () => {
      cached = undefined;
    },
  };
}

/** Compares a definition of the platform with the mapping. @param found undefined: the platform has none */
function judgeDefinition(
  name: string,
  wanted: UserAttributeType | undefined,
  found?: UserAttribute,
): Definition {
  if (!found) return { kind: 'conflict', message: `attribute ${name} does not exist at the platform` };
  if (found.type === wanted) return { kind: 'ready', id: found.id };
  return {
    kind: 'conflict',
    message:
      `attribute ${name} is ${found.type} at the platform and ${wanted ?? 'unknown'} in the mapping: ` +
      TYPE_ADVICE,
  };
}
