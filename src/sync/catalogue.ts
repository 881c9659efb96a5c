// The platform's attribute definitions: made once when missing, refused when their type differs.
import { EndpointAbsent, IncompleteList, PlatformError, PlatformResponse } from '../platform/errors.ts';
import type { CallOptions, PlatformClient } from '../platform/client.ts';
import type { ConsoleUser, UserAttribute, UserAttributeType } from '../platform/wire.ts';
import type { Clock } from '../support/sources.ts';

/** Where a mapped attribute stands: its id at the platform, or why it cannot be written. */
export type Definition = { kind: 'ready'; id: string } | { kind: 'conflict'; message: string };

export interface Catalogue {
  /** Definitions of all mapped attributes, by name; read once, then kept until `refresh`. */
  definitions(signal: AbortSignal): Promise<Map<string, Definition>>;
  /** userName of the account that owns the API key, lower case; it is never provisioned. */
  keyOwner(signal: AbortSignal): Promise<string | undefined>;
  /** The same without waiting: undefined until the first answer is there, which this call then asks for. */
  knownKeyOwner(): string | undefined;
  /** Whether the API key belongs to an active administrator, whom the bridge never touches; no when nobody says. */
  isOwnedByAdministrator(call: CallOptions): Promise<boolean>;
  /** Read again at the next use: a definition turned out to be missing. */
  refresh(): void;
}

const KEEP_MS = 600_000;
/** Whose key it is, where that can wait: a question that failed is not put with every sync. */
const ASK_AGAIN_MS = 30_000;

export function createCatalogue(
  deps: { client: PlatformClient; clock: Clock },
  types: Record<string, UserAttributeType>,
): Catalogue {
  const { client, clock } = deps;
  let cached: { at: number; definitions: Promise<Map<string, Definition>> } | undefined;
  let owner: Promise<ConsoleUser | undefined> | undefined;
  let known: string | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let absentAt: number | undefined;

  async function load(signal: AbortSignal): Promise<Map<string, Definition>> {
    const names = Object.keys(types);
    if (names.length === 0) return new Map();
    let existing = await byName(signal);
    for (const name of names) {
      if (existing.has(name)) continue;
      try {
        const made = await client.attributes.create({ name, type: types[name] ?? 'string' }, { signal });
        existing.set(made.name, made);
      } catch (error) {
        // Somebody else made it in the same moment (409, or 400 from some tenants): look again.
        if (!(error instanceof PlatformResponse) || (error.status !== 409 && error.status !== 400))
          throw error;
        // A recently created definition is kept, as a late list does not show it.
        existing = new Map([...existing, ...(await byName(signal))]);
        if (existing.has(name)) continue;
        if (error.status === 400) throw error;
        // It is there, and the list is late: nobody is to blame, the next sync looks again.
        const counts = { seen: existing.size };
        throw new IncompleteList(`the list does not show ${name}, which exists`, counts, error);
      }
    }
    return new Map(names.map((name) => [name, judgeDefinition(name, types[name], existing.get(name))]));
  }

  async function byName(signal: AbortSignal): Promise<Map<string, UserAttribute>> {
    return new Map(
      (await client.attributes.list({ signal })).map((definition) => [definition.name, definition]),
    );
  }

  function ownAccount(call: CallOptions): Promise<ConsoleUser | undefined> {
    if (absentAt !== undefined && clock.now() - absentAt > KEEP_MS) owner = absentAt = undefined;
    owner ??= client.accounts.me(call).then(
      (account) => {
        known = account.username.toLowerCase();
        return account;
      },
      (error: unknown) => {
        // A tenant without this endpoint, or a key without a person behind it: nobody to protect. Or something in
        // between says so for a while, so it is not believed for good.
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
  const hasJustFailed = (): boolean => clock.now() - failedAt < ASK_AGAIN_MS;

  return {
    definitions: (signal) => {
      if (!cached || clock.now() - cached.at > KEEP_MS) {
        const definitions = load(signal);
        cached = { at: clock.now(), definitions };
        definitions.catch(() => {
          if (cached?.definitions === definitions) cached = undefined;
        });
      }
      return cached.definitions;
    },
    keyOwner,
    knownKeyOwner: () => {
      if (!owner && !hasJustFailed()) keyOwner(new AbortController().signal).catch(() => undefined);
      return known;
    },
    isOwnedByAdministrator: async (call) => {
      if (!owner && hasJustFailed()) return false;
      const account = await ownAccount(call).catch((error: unknown) => {
        if (error instanceof PlatformError) return undefined;
        throw error;
      });
      return account?.isAdmin === true && account.isDeactivated !== true;
    },
    refresh: () => {
      cached = undefined;
    },
  };
}

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
      'a type cannot be changed there, so correct the mapping or use another name',
  };
}
