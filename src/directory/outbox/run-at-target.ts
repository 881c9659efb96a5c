// Defines how the stores of a target run scripts: with the arguments that all of these scripts have.
import type { ScriptReply } from '../redis/scripts.ts';

/** Runs a script with its own arguments and those of the target: its name, its address, and the duration of a lease. */
export type RunAtTarget = (name: string, args: object, ...texts: string[]) => Promise<ScriptReply>;
