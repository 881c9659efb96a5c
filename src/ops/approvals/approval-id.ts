// Reads the ids of approvals. An approval is a list of changes that grows, so one approval has many ids:
//   acme.main.12-17       connection, target, serial of the approval, and the last place of the list (`idOfList`)
//   acme.main.12-17~3f9c  a part of this list, with the digest of the chosen changes
//   acme.main.12          all that is held now; no approval is shown with this id, but an operator may give it
// The guard of a target stores ids without the connection, which these functions take too. Pure.

/** Returns the id of an approval without its connection, as the guard of the target stores it. */
export const withinTarget = ({ id, connection }: { id: string; connection: string }): string =>
  id.slice(connection.length + 1);

/** Returns the id of the whole list for the id of a part of it; any other id unchanged. */
export const listIdOf = (id: string): string => id.replace(/~[0-9a-f]+$/, '');

/** Returns the last place of the list; undefined for an id without it. */
export function lastPlaceOf(id: string): number | undefined {
  const [, place] = LAST_PLACE.exec(listIdOf(id)) ?? [];
  return place === undefined ? undefined : Number(place);
}

const LAST_PLACE = /-(\d+)$/;

/** Returns whether two ids are of lists, or parts, of the same approval: they have the same serial at the same target. */
export const isSameApproval = (id: string, other: string): boolean =>
  withoutPlace(id) === withoutPlace(other);

const withoutPlace = (id: string): string => listIdOf(id).replace(LAST_PLACE, '');
