// Calls the Lua scripts beside this file with named arguments.
import type { Redis } from 'ioredis';
import { scriptOn } from './command.ts';
import { gatherOn, type Gather } from './gather.ts';
import type { Confirm } from './replicas.ts';
import { scriptTexts } from './script-texts.ts';

/** Tag of a call that a script could not do: a bug, which concerns no other call. */
const FAILED = 'failed';
/**
 * What must not be lost once it is answered: pushes, decisions of people, and what a sync is about to write at the
 * platform. Everything else is found out again.
 */
const CONFIRMED = new Set([
  ...['create_users', 'put_user', 'replace_values', 'put_group', 'delete_user', 'delete_group'],
  ...['save_link', 'forget_link', 'guard_take', 'guard_decide', 'hold', 'append_act'],
]);

/**
 * What a busy service does all day, for many requests at once. Everything else leaves when it is called. These answer in
 * one text each, if they need not make a long one for it: the client takes longer to take a list apart than we take to
 * read a text. So many leave together at most (ADR 0016): reads are soon done, and who waits for them is soon answered; a
 * PUT costs this process most, so Redis begins early.
 */
const GATHERED = new Map([
  ['put_user', 4],
  ['replace_values', 8],
  ['put_group', 8],
  ['read_users', 4],
]);

/** A reply of a script: a tag that names the outcome, then its values. */
export type Reply = [tag: string, ...values: unknown[]];

export interface Scripts {
  /**
   * Runs one script atomically.
   * @param base the connection's key base (keys.ts)
   * @param args the named arguments listed in the script's header; as JSON, made once, where all calls have them alike
   * @param texts what follows them as it is, where the header has it: large or rarely looked into, so not worth decoding
   */
  run(name: string, base: string, args: object | string, ...texts: string[]): Promise<Reply>;
  /** The same for a script that replies with one text. */
  ask(name: string, base: string, args: object | string, ...texts: string[]): Promise<string>;
  /** Sends one command of a script that takes its calls together (script-texts.ts). */
  send(name: string, base: string, texts: string[]): Promise<unknown>;
  /** For other commands that many requests send at once. */
  gather: Gather;
}

/** A call as it travels: the count of its texts, its arguments as JSON, its texts. */
type Call = string[];
type Send = (base: string, texts: string[]) => Promise<unknown>;
/** How one script is called on the keys of one base. */
type Way = (call: Call) => Promise<Reply | string>;

/** Defines every script on the connection. Calls cost one EVALSHA, alone or together; each of them stands for itself. */
export function loadScripts(redis: Redis, confirm?: Confirm): Scripts {
  const gather = gatherOn(redis);
  const commands = new Map(defineAll(redis));
  const ways = new Map([...commands.keys()].map((name) => [name, waysOf(name)]));

  async function send(name: string, base: string, texts: string[]): Promise<unknown> {
    const command = commands.get(name);
    if (!command) throw new Error(`There is no script named ${name}`);
    const reply = await command(base, texts);
    if (confirm && CONFIRMED.has(name)) await confirm(base);
    return reply;
  }

  function waysOf(name: string): (base: string) => Way {
    const most = GATHERED.get(name) ?? 1;
    const known = new Map<string, Way>();
    return (base) => {
      let way = known.get(base);
      if (!way) {
        const sendAll = async (calls: Call[]): Promise<(Reply | string | Error)[]> => {
          const replies = (await send(name, base, textsOf(calls))) as (Reply | string)[];
          return replies.map((reply) => (reply[0] === FAILED ? failure(name, reply) : reply));
        };
        way = gather(sendAll, most);
        known.set(base, way);
      }
      return way;
    };
  }

  function run(
    name: string,
    base: string,
    args: object | string,
    ...texts: string[]
  ): Promise<Reply | string> {
    const way = ways.get(name);
    if (!way) throw new Error(`There is no script named ${name}`);
    return way(base)([
      String(texts.length),
      typeof args === 'string' ? args : JSON.stringify(args),
      ...texts,
    ]);
  }

  return { gather, send, run: run as Scripts['run'], ask: run as Scripts['ask'] };
}

/** As `flat` does, which takes several times as long for so many. */
function textsOf(calls: Call[]): string[] {
  const texts: string[] = [];
  for (const call of calls) for (const text of call) texts.push(text);
  return texts;
}

/** In the words of Redis, which tell whether it is a bug or only not now. */
const failure = (name: string, [, message]: Reply | string): Error =>
  new Error(String(message), { cause: `script ${name}` });

function* defineAll(redis: Redis): Generator<[name: string, send: Send]> {
  for (const [name, lua] of scriptTexts()) yield [name, scriptOn(redis, lua)];
}
