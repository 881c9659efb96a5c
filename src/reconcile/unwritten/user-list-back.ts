// Finds dead letters that may succeed now, because the tenant has a user list.
import type { Ref } from '../../directory/records.ts';
import { isAboutUserList } from '../../sync/user/user-list.ts';
import { asking } from '../compare/platform-reads.ts';
import type { ScanResult } from '../scope.ts';

/**
 * Returns the users whose values were not written because the tenant had no user list, if it has one now: a proxy may have answered in
 * place of the platform for a long time. Asks only if there are such users.
 * @param blocked all dead letters of the target
 */
export async function healedByUserList(scan: ScanResult, blocked: readonly Ref[]): Promise<Ref[]> {
  const { links, target } = scan.scope;
  const refs = blocked.filter((ref) => ref.startsWith('User:'));
  const found = await links.getMany(target.name, refs);
  const waiting = refs.filter((_, index) => isAboutUserList(found[index]?.condition));
  if (waiting.length === 0) return [];
  const answer = await asking(scan, (signal) => target.client.accounts.firstPage({ signal }));
  return Array.isArray(answer) ? waiting : [];
}
