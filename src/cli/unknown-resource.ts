// Finds the user or group that an order names, and tells the operator of an unknown name (exit code 4). The error is thrown with a
// message about the search (`notKnownText`). When the command has ended, `reportUnknown` reads Redis once more, and prints also
// why the name may be unknown: its connection or target left the settings, or the stored data was lost or restored.
import type { Config } from '../config/schema.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { findForOrder, type FoundResource, type Searched } from '../ops/find.ts';
import { type LinkRow, showLinks } from '../ops/links/link-rows.ts';
import { backupText, readRestored } from '../reconcile/tenant/restored.ts';
import { lostDataText } from './lost-data.ts';
import { complain } from './output.ts';
import { withStore } from './store.ts';

/** Exit code when nothing has the name. */
export const EXIT_UNKNOWN = 4;

interface SearchedPlace {
  config: Config;
  /** Only this connection was searched. */
  connection?: string | undefined;
  /** Only the connections that feed this target were searched. */
  target?: string | undefined;
  /** Only people were searched. */
  isPerson?: boolean;
}

/** Thrown when no user or group has the name or id that the operator typed; `text` is what was typed. */
export class UnknownResource extends Error {
  override name = 'UnknownResource';
  readonly text: string;
  readonly place: SearchedPlace;

  constructor(text: string, place: SearchedPlace) {
    // The past of the stored data has to be read from Redis, so `reportUnknown` adds it later.
    super(notKnownText(text, place, {}));
    this.text = text;
    this.place = place;
  }
}

/**
 * Returns the resource that an order means by `text`, once for each connection that pushed it under this ref.
 * @throws UnknownResource; Error with the refs if the text means several resources
 */
export async function findMeant(
  searched: readonly Searched[],
  text: string,
  place: SearchedPlace,
): Promise<FoundResource[]> {
  const found = await findForOrder(searched, text);
  if (found.length === 0) throw new UnknownResource(text, place);
  if (new Set(found.map(({ ref }) => ref)).size === 1) return found;
  const all = found.map(({ connection, ref, name }) => `${ref} ${name} (${connection})`).join(', ');
  throw new Error(`${text} means more than one; name it by its ref: ${all}.`);
}

/** Prints what to do about a name that no resource has. @returns the exit code; undefined for every other error */
export async function reportUnknown(error: unknown): Promise<number | undefined> {
  if (!(error instanceof UnknownResource)) return undefined;
  complain(await unknownText(error).catch(() => error.message));
  return EXIT_UNKNOWN;
}

/**
 * Returns the message about an unknown name. It names the links of a connection or target that left the settings, because such a
 * person or group may still have access; without such links it tells of a loss or a restore of the stored data.
 */
async function unknownText({ text, place }: UnknownResource): Promise<string> {
  return withStore(place.config, async (states, store) => {
    const rows = await showLinks({ states, ...store }, text);
    const removed = rows?.filter((row) => row.removed) ?? [];
    if (removed.length === 0) {
      const lost = await lostDataText(store.readFleet);
      return notKnownText(text, place, { restored: await lastRestored(states), lost });
    }
    return (
      `No connection of the settings knows ${text}. It is still linked through a connection or target that left them: ` +
      `${removed.map(stillThere).join('; ')}. The bridge writes nothing there, so the access stays until somebody ends it at the platform, ` +
      'or puts the connection back: see docs/removed-targets.md. ' +
      `scim-bridge links show ${text} names each.`
    );
  });
}

/** Returns the words for the backup of the newest restore of the connections; undefined: there was none. */
async function lastRestored(states: readonly Pick<DesiredState, 'acts'>[]): Promise<string | undefined> {
  const restores = await Promise.all(states.map(({ acts }) => readRestored(acts)));
  const [newest] = restores.filter((each) => each !== undefined).sort((a, b) => b.at - a.at);
  return newest && backupText(newest);
}

/** Returns the link of a removed target as a clause. */
const stillThere = ({ ref, name, kind, connection, target, platformId, account, active }: LinkRow): string =>
  `${name ?? ref} (${ref}) of the connection ${connection} at ${target}, where the ` +
  (kind === 'Group'
    ? `group ${platformId ?? ''} may exist`
    : `account ${account ?? platformId ?? ''} ${active === false ? 'is closed' : 'may be active'}`);

/** The past of the stored data, in words. */
interface DataPast {
  /** Backup of the last restore; undefined: there was none. */
  restored?: string | undefined;
  /** The loss when Redis came back empty; undefined: nothing was lost. */
  lost?: string | undefined;
}

/** Returns where the name was searched, why nothing may have it, and which commands know further names. */
function notKnownText(
  text: string,
  { config, connection, target, isPerson = false }: SearchedPlace,
  { restored, lost }: DataPast,
): string {
  const all = Object.values(config.connections);
  const isSearched = ({ name, targets }: (typeof all)[number]): boolean =>
    name === (connection ?? name) && (target === undefined || targets.includes(target));
  const namesOf = (some: typeof all): string => some.map(({ name }) => name).join(', ');
  const [searched, others] = [all.filter(isSearched), all.filter((each) => !isSearched(each))];
  const noun = searched.length === 1 ? 'the connection' : 'the connections';
  const ways = isPerson
    ? 'userName, externalId, address, id and ref'
    : 'userName, externalId, address, group name, id and ref';
  return (
    (lost === undefined ? '' : `${lost} `) +
    `No person${isPerson ? '' : ' and no group'} is known as ${text.trim() === '' ? '""' : text} in ${noun} ${namesOf(searched)}, ` +
    `by ${ways}. A resource of this name was never pushed, its push was refused (the identity provider has the reason), or it was renamed, deleted or forgotten. ` +
    (restored === undefined
      ? ''
      : `A restore brought ${restored} back: a resource that was pushed after it, and not again since, is not known either. `) +
    'A deleted resource is found by its ref: User: or Group: with the sourceIdentity.id of scim-bridge log --json. ' +
    (others.length > 0 ? `Not searched: ${namesOf(others)}. ` : '') +
    'See scim-bridge links list for the names that are known, and scim-bridge plan --all for accounts that only the platform has.'
  );
}
