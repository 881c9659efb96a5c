// Groups with one member each, of which tests exchange the names.
import { eventually } from './eventually.ts';
import type { Idp } from './idp.ts';
import type { PlatformView } from './platform-view.ts';

/** Longest time for names to reach the platform. */
export const LONG_MS = 40_000;

/** Renames a group at the source. */
export const rename = (idp: Idp, id: string | undefined, value: string) =>
  idp.patch(`/Groups/${id ?? ''}`, { op: 'replace', path: 'displayName', value });

/** Creates a group for each name, with one member of the same name. @returns the ids of the groups */
export async function foundGroups({ idp, platform }: { idp: Idp; platform: PlatformView }, names: string[]) {
  const ids: string[] = [];
  for (const name of names)
    ids.push(await idp.createGroup(name, [await idp.createUser(`${name}@acme.example`)]));
  for (const name of names) await eventually(name, () => isIn(platform, name, name), LONG_MS);
  return ids;
}

/** Returns whether the person is in the group with this name, and in no other one. */
export async function isIn(platform: PlatformView, person: string, group: string): Promise<boolean> {
  return (await platform.user(`${person}@acme.example`))?.groups.join() === group;
}
