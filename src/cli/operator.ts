// Names the operator of a command for the audit log, and defines the options --by and --note.
import { userInfo } from 'node:os';
import { InvalidArgumentError, type Command } from 'commander';
import type { Actor } from '../directory/logs/acts.ts';
import type { Cli } from './cli.ts';

/** Options of every command that gives an order. */
export interface OperatorFlags {
  /** Name of the operator. */
  by?: string;
  /** Reason of the order. */
  note?: string;
}

/** Largest number of characters of a name and of a note. */
const MOST_NAME = 200;
const MOST_NOTE = 1000;

export const withOperator = (command: Command): Command =>
  command
    .option(
      '--by <name>',
      'who orders it (default: SCIM_BRIDGE_OPERATOR, else the pod or the account at this machine)',
      upTo(MOST_NAME),
    )
    .option('--note <text>', 'why, for the record', upTo(MOST_NOTE));

/**
 * Returns the operator as the options, the environment or the system name it; the name is not verified.
 * @throws Error when SCIM_BRIDGE_OPERATOR is too long
 */
export const actorOf = ({ env }: Cli, { by, note }: OperatorFlags = {}): Actor => ({
  by: by ?? operatorIn(env),
  via: 'command',
  ...(note === undefined ? {} : { note }),
});

function operatorIn(env: NodeJS.ProcessEnv): string {
  const { SCIM_BRIDGE_OPERATOR: operator, POD_NAME: pod, POD_NAMESPACE: namespace, SUDO_USER: sudo } = env;
  if (operator && operator.length > MOST_NAME)
    throw new Error(
      `SCIM_BRIDGE_OPERATOR has more than ${MOST_NAME} characters: name the operator in fewer.`,
    );
  if (operator) return operator;
  // In a container all operators have the same account. The chart sets the names of pod and namespace.
  if (pod) return `pod ${namespace ? `${namespace}/` : ''}${pod}`.slice(0, MOST_NAME);
  if (sudo) return sudo;
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user id without a name.
    return env.USER ?? `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

const upTo =
  (most: number) =>
  (text: string): string => {
    if (text.trim() === '' || text.length > most)
      throw new InvalidArgumentError(`Say 1 to ${most} characters.`);
    return text;
  };
