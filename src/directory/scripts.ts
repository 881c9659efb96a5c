// Loads the Lua scripts beside this file and calls them with named arguments.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { Confirm } from './replicas.ts';

const FOLDER = join(import.meta.dirname, 'scripts');
/** Not scripts of their own: put before every one, in this order. */
const SHARED = ['shared', 'telling'];
/**
 * What must not be lost once it is answered: pushes, decisions of people, and what a sync is about to write at the
 * platform. Everything else is found out again.
 */
const CONFIRMED = new Set([
  ...['put_user', 'put_group', 'delete_user', 'delete_group'],
  ...['save_link', 'forget_link', 'guard_take', 'guard_decide', 'hold', 'append_act'],
]);

/** A reply of a script: a tag that names the outcome, then its values. */
export type Reply = [tag: string, ...values: unknown[]];

export interface Scripts {
  /**
   * Runs one script atomically.
   * @param base the connection's key base (keys.ts)
   * @param args the named arguments listed in the script's header
   * @param texts what follows them as it is, where the header has it: large or rarely looked into, so not worth decoding
   */
  run(name: string, base: string, args: object, ...texts: string[]): Promise<Reply>;
}

/** Defines every script on the connection; each then costs one EVALSHA. */
export function loadScripts(redis: Redis, confirm?: Confirm): Scripts {
  const shared = SHARED.map((name) => readFileSync(join(FOLDER, `${name}.lua`), 'utf8')).join('\n');
  const commands = new Map<string, (...args: string[]) => Promise<Reply>>();
  for (const file of readdirSync(FOLDER)) {
    const name = file.replace(/\.lua$/, '');
    if (SHARED.includes(name) || name === file) continue;
    const lua = `${shared}\n${readFileSync(join(FOLDER, file), 'utf8')}`;
    const command = `bridge_${name}`;
    redis.defineCommand(command, { numberOfKeys: 1, lua });
    const run = (redis as unknown as Record<string, (...args: string[]) => Promise<Reply>>)[command];
    if (run) commands.set(name, run.bind(redis));
  }
  return {
    run: (name, base, args, ...texts) => {
      const command = commands.get(name);
      if (!command) throw new Error(`No script named ${name} in ${FOLDER}`);
      const reply = command(base, JSON.stringify(args), ...texts);
      if (!confirm || !CONFIRMED.has(name)) return reply;
      return reply.then((answer) => confirm(base).then(() => answer));
    },
  };
}
