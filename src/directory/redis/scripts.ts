// Runs the Lua scripts of the directory with named arguments. `run`, `values` and `ask` make one call; they differ in the form of
// the reply. Calls of a script in BATCHED that start in one turn of the event loop are sent as one command (ADR 0016), because
// sending costs this process more than Redis needs for the work. Each script with its key base has a runner, which collects these
// calls; `createBatch` sends them at the end of the turn.
import type { Redis } from 'ioredis';
import type { Keyspace } from '../keys.ts';
import type { Confirm } from './replicas.ts';
import { scriptText } from './script-texts.ts';

/** Tag of the reply of one failed call; the other calls of its batch have their own replies. */
const FAILED = 'failed';
/**
 * Scripts whose writes must be confirmed by replicas: pushes, decisions of operators, and links before a sync writes to
 * the platform. Other data is restored by reconcile after a failover.
 */
const CONFIRMED = new Set([
  'create_users',
  'put_user',
  'replace_values',
  'put_group',
  'delete_user',
  'delete_group',
  'save_link',
  'send_additions',
  'refuse_additions',
  'forget_link',
  'guard_take',
  'guard_first',
  'guard_decide',
  'guard_move',
  'hold',
  'append_act',
]);

/**
 * Scripts whose calls are batched, with the most calls of one batch (ADR 0016). Batches of put_user are small, because this process
 * needs the most time for a PUT and Redis should start early.
 */
const BATCHED = new Map([
  ['read_users', 8],
  ['put_user', 4],
  ['replace_values', 8],
  ['put_group', 8],
]);

/** Sends a batch. An Error among the replies is the failure of that item alone. */
type Send<Item, Reply> = (items: Item[]) => Promise<(Reply | Error)[]>;

/**
 * @param send resolves to the replies in the order of the items; its rejection rejects all of them
 * @param most size at which a batch is sent before the turn ends, so that Redis works during the turn
 * @returns a function that sends one item, together with the other items of its turn
 */
export type Batch = <Item, Reply>(send: Send<Item, Reply>, most: number) => (item: Item) => Promise<Reply>;

/** A reply of a script: a tag that names the outcome, then its values. */
export type ScriptReply = [tag: string, ...values: unknown[]];

export interface Scripts {
  /**
   * Runs one script atomically.
   * @param base the connection's key base (keys.ts)
   * @param args the named arguments listed in the script's header, or their JSON, which a caller may keep for equal calls
   * @param texts values that follow the arguments undecoded, where the header lists them
   */
  run(name: string, base: string, args: object | string, ...texts: string[]): Promise<ScriptReply>;
  /** Runs a script whose replies have one tag. @returns the values after the tag, in the order of RETURN in the script's header */
  values(name: string, base: string, args: object | string, ...texts: string[]): Promise<unknown[]>;
  /** Runs a script that replies with one text. */
  ask(name: string, base: string, args: object | string, ...texts: string[]): Promise<string>;
  /** Sends one command of a script that processes a whole batch (script-texts.ts). */
  send(name: string, base: string, texts: string[]): Promise<unknown>;
  /** Batches items for `send`. */
  batch: Batch;
}

/** Parts that every store of a connection uses. */
export interface StoreDeps {
  redis: Redis;
  scripts: Scripts;
  keys: Keyspace;
}

/** Arguments of one call: number of texts, arguments as JSON, texts. */
type Call = string[];
type RunCall = (call: Call) => Promise<ScriptReply | string>;
/** The client with its scripts as methods, as `defineCommand` of ioredis adds them. */
type ScriptClient = Record<string, (base: string, texts: string[]) => Promise<unknown>>;

/** Returns the scripts of the directory on this client. Each batch is one EVALSHA, and each call has its own outcome. */
export function loadScripts(redis: Redis, confirm?: Confirm): Scripts {
  const client = redis as unknown as ScriptClient;
  const defined = new Set<string>();
  const batch = createBatch();
  /** Runners by key base and script: the calls of one command share their keys. */
  const runners = new Map<string, Map<string, RunCall>>();

  /** Defines a script at its first call: `defineCommand` hashes its text, and most commands of the CLI call few of the scripts. */
  function define(name: string): void {
    redis.defineCommand(name, { lua: scriptText(name), numberOfKeys: 1 });
    defined.add(name);
  }

  async function send(name: string, base: string, texts: string[]): Promise<unknown> {
    if (!defined.has(name)) define(name);
    const reply = await client[name]?.(base, texts);
    if (confirm && CONFIRMED.has(name)) await confirm(base);
    return reply;
  }

  /**
   * Creates the runner of a script, and remembers it by key base and name. It sends the calls of one turn together, and gives each
   * call its own reply.
   */
  function addRunner(name: string, base: string): RunCall {
    const runner = batch(
      async (calls: Call[]) => {
        const replies = (await send(name, base, calls.flat())) as (ScriptReply | string)[];
        return replies.map((reply) =>
          Array.isArray(reply) && reply[0] === FAILED ? failure(name, reply) : reply,
        );
      },
      BATCHED.get(name) ?? 1,
    );
    const ofBase = runners.get(base) ?? new Map<string, RunCall>();
    runners.set(base, ofBase.set(name, runner));
    return runner;
  }

  function run(
    name: string,
    base: string,
    args: object | string,
    ...texts: string[]
  ): Promise<ScriptReply | string> {
    const runner = runners.get(base)?.get(name) ?? addRunner(name, base);
    const json = typeof args === 'string' ? args : JSON.stringify(args);
    return runner([String(texts.length), json, ...texts]);
  }

  return {
    batch,
    send,
    run: run as Scripts['run'],
    values: async (...call) => [...(await run(...call)).slice(1)],
    ask: run as Scripts['ask'],
  };
}

/** Creates an error with the message of Redis, by which `isStoreUnavailable` recognises an unavailable server. */
const failure = (name: string, [, message]: ScriptReply): Error =>
  new Error(String(message), { cause: `script ${name}` });

/** Items that wait for the end of the turn. */
interface Waiting {
  send: Send<unknown, unknown>;
  items: unknown[];
  settle: Settle[];
}

/** Ends the promise of one item. */
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
