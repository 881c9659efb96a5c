// Calls of one turn of the event loop leave as one command: making, sending and answering a command costs more than the
// work that Redis does for it.

interface Waiting<Item, Reply> {
  item: Item;
  resolve: (reply: Reply) => void;
  reject: (error: unknown) => void;
}

/** So many leave at once at the latest: Redis does nothing else meanwhile. */
const MOST = 32;

/**
 * @param send answers in the order of the items; when it fails, all of them do
 * @returns one call, which leaves with the others of its turn
 */
export function gather<Item, Reply>(
  send: (items: Item[]) => Promise<Reply[]>,
): (item: Item) => Promise<Reply> {
  let waiting: Waiting<Item, Reply>[] = [];

  function leave(): void {
    if (waiting.length === 0) return;
    const leaving = waiting;
    waiting = [];
    send(leaving.map(({ item }) => item)).then(
      (replies) => {
        for (const [index, { resolve }] of leaving.entries()) resolve(replies[index] as Reply);
      },
      (error: unknown) => {
        for (const { reject } of leaving) reject(error);
      },
    );
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ item, resolve, reject }) === 1) setImmediate(leave);
      else if (waiting.length === MOST) leave();
    });
}
