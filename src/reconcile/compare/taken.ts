// Finds accounts and groups that another connection of the target is linked to. The sync refuses to take such a resource
// over, so the plan shows a conflict and no create.
import type { Kind } from '../../directory/records.ts';
import type { Core } from '../../sync/mapping/mapping.ts';
import { takenText } from '../../sync/names/taken-by-connection.ts';
import type { ScanResult } from '../scope.ts';

/** Returns the reason why the sync will refuse an account or group of this id; undefined: no other connection has it. */
export async function takenElsewhereText(
  { scope: { links, target, others } }: ScanResult,
  kind: Kind,
  platformId: string | undefined,
  core: Core = {},
): Promise<string | undefined> {
  if (platformId === undefined || others.length === 0) return undefined;
  const holder = await links.elsewhere.holderOf(target.name, kind, platformId);
  return holder && `TakenByConnection: ${takenText(kind, holder, { target: target.name, core })}`;
}
