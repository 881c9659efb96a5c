// Defines the settings of the guard that holds mass removals until a person approves them.
// Arguments (node.ts): whole(description, default, smallest, largest).
import { nodeOf, section, usualText, whole } from './node.ts';

/** Returns the section of one limit. `count`: its default number; `percent`: its default share of `all`. */
function limit(what: string, all: string, count: number, percent: number) {
  return section(`${what} within the window that need no approval. Both limits apply.`, {
    count: whole('Number.', count, 0, 1_000_000_000),
    // 10 in the text is SHARE_FLOOR (guard/judge.ts), which no file of this folder imports.
    percent: nodeOf<number>({
      type: 'number',
      description: `Share of all ${all}, in percent. A share above 0 always allows 10 changes, so that small tenants can work; 0 allows none.`,
      default: percent,
      minimum: 0,
      maximum: 100,
    }),
  });
}

export const guardSchema = section('Mass removals stop here and wait for approval (scim-bridge approvals).', {
  window: usualText(
    'Time over which removals are counted: a number with ms, s, m, h or d, such as 24h.',
    '24h',
  ),
  approvers: whole('Number of persons who have to approve held changes: 1, or 2 different ones.', 1, 1, 2),
  deactivate: limit('Deactivations of users', 'users', 50, 10),
  delete: limit('Deletions of users and groups', 'users and groups', 10, 2),
  removeMembers: limit('Removals of group members', 'memberships', 200, 20),
  // The share is of users, because a wrong mapping clears one attribute of every user.
  clearAttributes: limit('Attribute values emptied', 'users', 200, 20),
});
