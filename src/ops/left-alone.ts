// Tells why a sync has nothing to bring: the person is protected, or the settings do not mean the resource for the target.
import { conditionText, type Link } from '../directory/outbox/links.ts';
import { fold } from '../directory/records.ts';
import { LEFT_OUT } from '../reconcile/compare-memberships.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { Resource } from '../scim/index.ts';
import { LISTED_AS_PROTECTED } from '../sync/target.ts';
import type { FoundResource } from './find.ts';

/** Returns the reason as words; undefined when the resource is meant for the target, or deleted at the source. */
export async function leftAloneText(
  { target, directory, outbox }: ReconcileScope,
  { kind, id, name, record }: FoundResource,
  link: Link,
): Promise<string | undefined> {
  if (link.condition?.reason === 'Protected') return conditionText(link.condition, outbox.settings);
  if (!record || record.damaged) return undefined;
  if (kind === 'Group') {
    if (target.mapping.groupName(name) !== undefined) return undefined;
    return `${LEFT_OUT}${link.id === undefined ? '' : ', and the group at the platform stays as it is'}`;
  }
  const [joined = []] = await directory.groupsOf([id]);
  const { inScope, core } = await target.mapping.user(JSON.parse(record.text) as Resource, id, joined);
  if (!inScope) return `outside users.scope of the target ${target.name}`;
  const names = new Set([name, String(core.userName)].map(fold));
  return target.policy.users.protected.some((each) => names.has(fold(each)))
    ? LISTED_AS_PROTECTED
    : undefined;
}
