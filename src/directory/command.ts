// Commands that leave nothing behind. Those of the client assign functions to themselves, which the engine puts among what
// is old; from there they hold arguments and reply, answered or not, until the next full collection.
import { createHash } from 'node:crypto';
import { Command, type Redis } from 'ioredis';

/** A command of the client as far as this file looks into it, which is further than its types do. */
interface Internals {
  name: string;
  args: unknown[];
  promise: Promise<unknown>;
  resolve: (reply: unknown) => void;
  reject: (error: Error) => void;
  isResolved: boolean;
  isSettled: boolean;
  stringifyArguments(): void;
  transformReply(reply: unknown): unknown;
  toWritable(socket: object): string | Buffer;
  _clearTimers(): void;
}
const OfClient = Command as unknown as new (name: string, args: unknown[], options: object) => Internals;

const AS_TEXT = { replyEncoding: 'utf8' };

class LeanCommand extends OfClient {
  constructor(name: string, args: unknown[]) {
    super(name, args, AS_TEXT);
  }

  /** Called by the constructor of the client. Functions get a name first, so that they are not assigned as they are made. */
  initPromise(): void {
    this.stringifyArguments();
    this.promise = new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        this._clearTimers();
        this.isSettled = true;
        reject(error);
      };
      const succeed = (reply: unknown): void => {
        this._clearTimers();
        this.isResolved = true;
        this.isSettled = true;
        resolve(this.transformReply(reply));
      };
      this.resolve = succeed;
      this.reject = fail;
    });
  }
}

interface Script {
  lua: string;
  sha: string;
  /** Connections that know the script. */
  known: WeakSet<object>;
}

/** EVALSHA, or EVAL on a connection where the script was not run yet: so calls never change their order. */
class ScriptCommand extends LeanCommand {
  readonly script: Script;
  socket: object | undefined;

  constructor(script: Script, key: string, texts: string[]) {
    super('evalsha', []);
    // Set here, the client does not look for lists within the list: a script may have hundreds of texts.
    this.args = [script.sha, '1', key];
    for (const text of texts) this.args.push(text);
    this.script = script;
  }

  override toWritable(socket: object): string | Buffer {
    const { known, lua, sha } = this.script;
    const isKnown = known.has(socket);
    this.name = isKnown ? 'evalsha' : 'eval';
    this.args[0] = isKnown ? sha : lua;
    this.socket = socket;
    known.add(socket);
    return super.toWritable(socket);
  }
}

const send = (redis: Redis, command: Internals): Promise<unknown> =>
  redis.sendCommand(command as unknown as Command) as Promise<unknown>;

/** HMGET. */
export const fieldsOf = (redis: Redis, key: string, fields: string[]): Promise<(string | null)[]> =>
  send(redis, new LeanCommand('hmget', [key, ...fields])) as Promise<(string | null)[]>;

/** ZRANGE BYSCORE: at most `count` members behind the score `after`, each followed by its score. */
export const placedBehind = (redis: Redis, key: string, after: number, count: number): Promise<string[]> =>
  send(
    redis,
    new LeanCommand('zrangebyscore', [key, `(${after}`, '+inf', 'WITHSCORES', 'LIMIT', 0, count]),
  ) as Promise<string[]>;

/** @returns runs the script on one key and the texts behind it, once, whatever the server knew of it */
export function scriptOn(redis: Redis, lua: string): (key: string, texts: string[]) => Promise<unknown> {
  const script: Script = { lua, sha: createHash('sha1').update(lua).digest('hex'), known: new WeakSet() };
  return async (key, texts) => {
    const command = new ScriptCommand(script, key, texts);
    try {
      return await send(redis, command);
    } catch (error) {
      // SCRIPT FLUSH, or a primary that took over: nothing was done.
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
      if (command.socket) script.known.delete(command.socket);
      return send(redis, new ScriptCommand(script, key, texts));
    }
  };
}
