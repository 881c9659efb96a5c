// Shows the long operations of the service below the overview.
import { get } from './api.js';
import { comparison } from './comparison.js';
import { h } from './dom.js';

/**
 * Creates the list of long operations. It is drawn again only after a change, because a comparison may have many lines.
 * @param afterOrder called after an order to an operation
 */
export function createOperationList(afterOrder) {
  /** The operations as last read, newest first. */
  let operations = [];
  /** The last comparison, which is read once: it may be large, and does not change once it has ended. */
  let plan;
  return {
    /** Reads the operations. @returns whether they have changed */
    read: async () => {
      const fresh = await get('/operations');
      if (JSON.stringify(fresh) === JSON.stringify(operations)) return false;
      const finished = fresh.find(({ kind, state }) => kind === 'plan' && state === 'succeeded');
      const read = finished?.id === plan?.id ? plan : finished && (await get(`/operations/${finished.id}`));
      [operations, plan] = [fresh, read];
      return true;
    },
    /** Returns a new element with the operations as last read: patch.js moves parts of the element that it is given. */
    toElement: () => h('div', {}, comparison(operations, afterOrder, plan)),
  };
}
