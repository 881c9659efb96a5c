// Shows the long operations of the service below the overview.
import { get } from './api.js';
import { comparison } from './comparison.js';
import { h } from './dom.js';

/**
 * Creates the list of long operations. It is drawn again only after a change, because a comparison may have many lines.
 * @param afterOrder called after an order to an operation
 */
export function createOperationList(afterOrder) {
  /** The last answer as text, by which a change is seen. */
  let known;
  /** Element of the last answer. */
  let content;
  /** The last comparison, which is read once: it may be large, and does not change once it has ended. */
  let plan;
  const readPlan = async (id) => {
    if (plan?.id !== id) plan = await get(`/operations/${id}`);
    return plan;
  };
  return {
    /** Reads the operations. @returns whether they have changed */
    read: async () => {
      const operations = await get('/operations');
      const text = JSON.stringify(operations);
      if (text === known) return false;
      content = await comparison(operations, afterOrder, readPlan);
      known = text;
      return true;
    },
    /** Returns a new element with the operations as last read. */
    toElement: () => h('div', {}, ...(content ? [content] : [])),
  };
}
