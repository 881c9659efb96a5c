// Reads what is stored of the resources of held or decided changes: record, time of the last change at the source, and link.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Link } from '../../directory/outbox/link.ts';
import { parseRef, refOf, type Kind, type Ref } from '../../directory/records.ts';

export interface KnownResource {
  /** Undefined: deleted at the source; then only the link has names. */
  resource: NamedResource | undefined;
  /** Unix milliseconds of the last change at the source; undefined: not known. */
  changedAt: number | undefined;
  link: Link;
}

/** The parts of a stored user or group that name it. */
interface NamedResource {
  userName?: string;
  displayName?: string;
  active?: boolean;
  emails?: { value?: string; primary?: boolean }[];
}

/** Reads the records and links of resources at a target, all of them together. */
export async function readKnown(
  { links, directory }: DesiredState,
  target: string,
  refs: Ref[],
): Promise<Map<Ref, KnownResource>> {
  const idsOf = (kind: Kind): string[] =>
    refs.map(parseRef).flatMap((ref) => (ref.kind === kind ? [ref.id] : []));
  const read = async (kind: Kind): Promise<[Ref, Pick<KnownResource, 'resource' | 'changedAt'>][]> => {
    const ids = idsOf(kind);
    const records = ids.length > 0 ? await directory.getMany(kind, ids) : [];
    // The text of a damaged record is empty.
    return records.map(({ id, text, lastModified }) => [
      refOf(kind, id),
      { resource: JSON.parse(text || '{}') as NamedResource, changedAt: lastModified },
    ]);
  };
  const [found, users, groups] = await Promise.all([
    links.getMany(target, refs),
    read('User'),
    read('Group'),
  ]);
  const stored = new Map([...users, ...groups]);
  const known = refs.map(async (ref, index): Promise<[Ref, KnownResource]> => {
    const link = found[index] ?? {};
    const record = stored.get(ref);
    if (record) return [ref, { ...record, link }];
    const gone = await directory.tombstone(parseRef(ref).id);
    return [ref, { resource: undefined, changedAt: gone?.deletedAt, link }];
  });
  return new Map(await Promise.all(known));
}

/**
 * Returns the name under which all commands show the resource. Of a user: the userName at the source, or after the deletion there
 * the userName at the platform. Of a group: the name at the platform, or without a link the name at the source. If no name is
 * known, it is the id.
 */
export function nameOfKnown(ref: Ref, known: KnownResource | undefined): string {
  const { core } = known?.link ?? {};
  const { userName, displayName } = known?.resource ?? {};
  const name = userName ?? core?.userName ?? core?.displayName ?? displayName;
  return typeof name === 'string' ? name : parseRef(ref).id;
}

/** Returns the primary address of a user, or the first one. */
export function mailOf(known: KnownResource | undefined): string | undefined {
  const emails = known?.resource?.emails ?? [];
  return (emails.find(({ primary }) => primary) ?? emails[0])?.value;
}
