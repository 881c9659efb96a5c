// Caches the platform's attribute definitions and the owner of the API key. Creates missing definitions, and refuses those
// of another type.
import { IncompleteList, PlatformResponse } from '../../platform/errors.ts';
import type { CallOptions, PlatformClient } from '../../platform/client.ts';
import type { UserAttribute, UserAttributeType } from '../../platform/wire.ts';
import type { Clock } from '../../support/sources.ts';
import { createKeyOwner } from '../calls/key-owner.ts';
import { untilAborted } from '../calls/answering.ts';

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

/** Call of a sync that needs the definitions. */
type DefinitionsCall = Required<Pick<CallOptions, 'signal'>> & Pick<CallOptions, 'beforeWrite'>;

/** One read of the definitions, shared by all syncs that ask meanwhile. */
interface DefinitionsRead {
  /** End of its lifetime, Unix milliseconds. */
  until: number;
  definitions: Promise<Map<string, Definition>>;
  isOpen: boolean;
  /** Calls of the syncs that wait for it. */
  waiting: Set<DefinitionsCall>;
  /** Ends the read when no caller waits any more. */
  abandoned: AbortController;
}

export type Catalogue = ReturnType<typeof createCatalogue>;

/** End of the message about a definition of another type. */
export const TYPE_ADVICE = 'a type cannot be changed there, so correct the mapping or use another name';
const LIST = '/api/v1/user-attributes';
/** Lifetime of the cached definitions. */
const KEEP_MS = 600_000;
/** A definition of another type is read again after this time, because an operator may have corrected it at the platform. */
const CONFLICT_KEEP_MS = 1000;

/**
 * Creates the cache of one target for its attribute definitions and the owner of its API key; nothing is read yet.
 * @param types of the mapped attributes, by name
 */
export function createCatalogue(
  deps: { client: PlatformClient; clock: Clock; key: () => string },
  types: Record<string, UserAttributeType>,
) {
  const { client, clock } = deps;
  let cached: DefinitionsRead | undefined;

  /** Reads the definitions for the waiting syncs, and creates those that are missing. */
  async function load(
    signal: AbortSignal,
    waiting: ReadonlySet<DefinitionsCall>,
  ): Promise<Map<string, Definition>> {
    const beforeWrite = () => oneMayWrite(waiting);
    const names = Object.keys(types);
    if (names.length === 0) return new Map();
    let existing = await byName(signal);
    for (const [name, type] of Object.entries(types)) {
      if (existing.has(name)) continue;
      try {
        const made = await client.attributes.create({ name, type }, { signal, beforeWrite });
        existing.set(made.name, made);
      } catch (error) {
        // Another process created the definition at the same time (409, or 400 at some tenants).
        if (!(error instanceof PlatformResponse) || (error.status !== 409 && error.status !== 400))
          throw error;
        // New definitions are kept, because a lagging list may not show them yet.
        existing = new Map([...existing, ...(await byName(signal))]);
        if (existing.has(name)) continue;
        // The list has no definition of this name, so the 400 means that the platform refuses it.
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

  function begin(): DefinitionsRead {
    const abandoned = new AbortController();
    const waiting = new Set<DefinitionsCall>();
    const definitions = load(abandoned.signal, waiting);
    const read = { until: clock.now() + KEEP_MS, definitions, isOpen: true, waiting, abandoned };
    definitions.then(
      (found) => {
        read.isOpen = false;
        const hasConflict = [...found.values()].some(({ kind }) => kind === 'conflict');
        if (hasConflict) read.until = clock.now() + CONFLICT_KEEP_MS;
      },
      () => {
        read.isOpen = false;
        if (cached === read) cached = undefined;
      },
    );
    return read;
  }

  return {
    /**
     * Returns the definitions of all mapped attributes by name. Cached for ten minutes; with a conflict, for one second.
     * @throws PlatformError while they cannot be read or created, PlatformAborted when the signal aborts, or the error of
     *   `beforeWrite` if no waiting sync may write any more
     */
    definitions: async (call: DefinitionsCall): Promise<Map<string, Definition>> => {
      if (!cached || clock.now() > cached.until) cached = begin();
      const read = cached;
      read.waiting.add(call);
      try {
        return await untilAborted(read.definitions, call.signal, { method: 'GET', route: LIST });
      } finally {
        read.waiting.delete(call);
        if (read.isOpen && read.waiting.size === 0) {
          if (cached === read) cached = undefined;
          read.abandoned.abort();
        }
      }
    },
    /** Reads the definitions of mapped attributes and returns those that are missing or of another type. Creates nothing. */
    faults: async (signal: AbortSignal): Promise<DefinitionFaults> => {
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
    ...createKeyOwner(deps),
    /** Discards the cached definitions, after the platform answered 404 to a write that names one. */
    refresh: (): void => {
      cached = undefined;
    },
  };
}

/** Resolves if at least one of the syncs may still write. @throws the error of `beforeWrite` of the last sync if none may */
async function oneMayWrite(waiting: ReadonlySet<DefinitionsCall>): Promise<void> {
  let refusal: Error | undefined;
  for (const { beforeWrite } of waiting)
    try {
      await beforeWrite?.();
      return;
    } catch (error) {
      refusal = error as Error;
    }
  if (refusal) throw refusal;
}

/** Compares a definition of the platform with the mapping. @param found undefined: the platform has none */
export function judgeDefinition(
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
