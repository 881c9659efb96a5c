// Calls of one turn of the event loop leave as one command (ADR 0016): making, sending and answering one costs more than the
// work that Redis does for it.
import type { Redis } from 'ioredis';

/** An Error among the replies is the failure of that item alone. */
type Send<Item, Reply> = (items: Item[]) => Promise<(Reply | Error)[]>;

/**
 * @param send answers in the order of the items; when it fails, all of them do
 * @param most so many leave at once at the latest: while Redis does them, the rest of the turn goes on here
 */
export type Gather = <Item, Reply>(send: Send<Item, Reply>, most: number) => (item: Item) => Promise<Reply>;

/** Calls of one kind that wait for the end of the turn. */
interface Batch {
  send: Send<unknown, unknown>;
  items: unknown[];
  settle: Settle[];
}

interface Settle {
  resolve: (reply: unknown) => void;
  reject: (error: unknown) => void;
}

function settleWith({ resolve, reject }: Settle, reply: unknown): void {
  if (reply instanceof Error) reject(reply);
  else resolve(reply);
}

/**
 * What is called first arrives first, as on any connection: one batch is open at a time, and it leaves before whatever
 * else is sent.
 */
export function gatherOn(redis: Redis): Gather {
  let open: Batch | undefined;

  function leave(): void {
    if (!open) return;
    const { send, items, settle } = open;
    open = undefined;
    send(items).then(
      (replies) => settle.forEach((each, index) => settleWith(each, replies[index])),
      (error: unknown) => settle.forEach(({ reject }) => reject(error)),
    );
  }

  const sendCommand = redis.sendCommand.bind(redis);
  redis.sendCommand = (...command) => {
    leave();
    return sendCommand(...command);
  };

  function call(send: Batch['send'], most: number, item: unknown): Promise<unknown> {
    if (open?.send !== send) {
      leave();
      open = { send, items: [], settle: [] };
    }
    const { items, settle } = open;
    return new Promise((resolve, reject) => {
      items.push(item);
      settle.push({ resolve, reject });
      if (items.length === most) leave();
      else if (items.length === 1) setImmediate(leave);
    });
  }

  return <Item, Reply>(send: Send<Item, Reply>, most: number) =>
    (item: Item) =>
      call(send as Batch['send'], most, item) as Promise<Reply>;
}
