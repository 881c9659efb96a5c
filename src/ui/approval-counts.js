// Counts the changes of an approval in words, and makes its address in the admin API.
import { count } from './dom.js';

/** Words for changes of each kind: one, several. */
export const CHANGE_LABELS = {
  deactivate: ['account to deactivate', 'accounts to deactivate'],
  delete: ['resource to delete', 'resources to delete'],
  removeMembers: ['membership to remove', 'memberships to remove'],
  clearAttributes: ['attribute value to empty', 'attribute values to empty'],
};

/** Returns the address of an approval below /admin/v1. @param query part behind the id: a further path or `?` and filters */
export const approvalPath = (id, query = '') => `/approvals/${encodeURIComponent(id)}${query}`;

/** Returns whether an approval has no decision yet; it may have expired. */
export const isUndecided = ({ state }) => state === 'held' || state === 'expired';

/** Returns the numbers of the changes by kind, as text. */
export const changeCounts = ({ kinds }) =>
  Object.entries(CHANGE_LABELS)
    .filter(([kind]) => kinds[kind] > 0)
    .map(([kind, [one, many]]) => count(kinds[kind], one, many))
    .join(', ');
