// Batches items that are sent in one turn of the event loop (ADR 0016).

/** Sends a batch. An Error among the replies is the failure of that item alone. */
type Send<Item, Reply> = (items: Item[]) => Promise<(Reply | Error)[]>;

/**
 * @param send resolves to the replies in the order of the items; its rejection rejects all of them
 * @param most size at which a batch is sent before the turn ends, so that Redis works during the turn
 * @returns a function that sends one item, together with the other items of its turn
 */
export type Batch = <Item, Reply>(send: Send<Item, Reply>, most: number) => (item: Item) => Promise<Reply>;

/** Items that wait for the end of the turn. */
interface Waiting {
  send: Send<unknown, unknown>;
  items: unknown[];
  settle: Settle[];
}

interface Settle {
  resolve: (reply: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Creates a function that batches items. It keeps the order of calls: only one batch is open, and an item for another `send` sends
 * the open batch first.
 */
export function createBatch(): Batch {
  let open: Waiting | undefined;

  function sendOpenBatch(): void {
    if (!open) return;
    const { send, items, settle } = open;
    open = undefined;
    send(items).then(
      (values) => {
        for (const [index, { resolve, reject }] of settle.entries()) {
          const value = values[index];
          if (value instanceof Error) reject(value);
          else resolve(value);
        }
      },
      (error: unknown) => settle.forEach(({ reject }) => reject(error)),
    );
  }

  function call(send: Waiting['send'], most: number, item: unknown): Promise<unknown> {
    if (open?.send !== send) {
      sendOpenBatch();
      open = { send, items: [], settle: [] };
    }
    const { items, settle } = open;
    return new Promise((resolve, reject) => {
      items.push(item);
      settle.push({ resolve, reject });
      if (items.length >= most) sendOpenBatch();
      else if (items.length === 1) setImmediate(sendOpenBatch);
    });
  }

  return <Item, Reply>(send: Send<Item, Reply>, most: number) =>
    (item: Item) =>
      call(send as Waiting['send'], most, item) as Promise<Reply>;
}
