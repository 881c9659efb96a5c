// Asks before an order changes something. `confirm` is for orders that are refused without an answer; `agrees` is for
// changes that may also be applied unattended.
import { createInterface } from 'node:readline/promises';

interface AskFlags {
  /** The operator has agreed already. */
  yes?: boolean;
  /** A program reads the output, so nothing is asked. */
  json?: boolean;
}

/**
 * Asks one question on the terminal.
 * @returns the answer without blanks around it; undefined: Ctrl-D or Ctrl-C ended the question
 * @throws the reason of `ended`, whose abort ends the question
 */
async function answerTo(
  question: string,
  output: NodeJS.WriteStream,
  ended?: AbortSignal,
): Promise<string | undefined> {
  ended?.throwIfAborted();
  const terminal = createInterface({ input: process.stdin, output });
  const closed = new AbortController();
  terminal.once('close', () => closed.abort());
  const close = (): void => terminal.close();
  ended?.addEventListener('abort', close);
  try {
    return (await terminal.question(question, { signal: closed.signal })).trim();
  } catch (error) {
    if (!closed.signal.aborted) throw error;
    // The next message begins in a line of its own.
    output.write('\n');
    ended?.throwIfAborted();
    return undefined;
  } finally {
    ended?.removeEventListener('abort', close);
    terminal.close();
  }
}

/** Asks one question. @returns the answer without blanks around it @throws Error when it is ended without an answer */
export async function ask(question: string, ended?: AbortSignal): Promise<string> {
  const answer = await answerTo(question, process.stderr, ended);
  if (answer === undefined) throw new Error(UNCHANGED);
  return answer;
}

/** Says that an order was not carried out, because its question was not answered with yes. */
export const UNCHANGED = 'Nothing was changed.';

/** The error when an order needs a yes and no terminal is there to ask on. */
export const NEEDS_YES = 'Nothing was changed: without a terminal, and with --json, this order needs --yes.';

/**
 * Resolves when the operator agrees: by `--yes`, or by the answer `yes` on a terminal.
 * @param options.show called before the question, to print what the order would change
 * @param options.ended the signal of the command; its abort ends the question
 * @throws Error when the operator does not agree, or when `--yes` is missing without a terminal or with `--json`
 */
export async function confirm(
  { yes, json }: AskFlags,
  question: string,
  { show, ended }: { show?: () => void | Promise<void>; ended?: AbortSignal } = {},
): Promise<void> {
  if (yes) return;
  if (json || !process.stdin.isTTY) throw new Error(NEEDS_YES);
  await show?.();
  if ((await ask(`${question} Type yes: `, ended)) !== 'yes') throw new Error(UNCHANGED);
}

/** Returns whether a question can be asked: the order runs on a terminal, and its output is not JSON. */
export const isAskable = ({ json }: AskFlags): boolean =>
  !json && process.stdin.isTTY && process.stdout.isTTY;

/**
 * Asks whether the changes of a plan are to be applied.
 * @param ended its abort ends the question
 * @returns true also without a question: by `--yes`, or when none can be asked; the guard still limits removals
 */
export async function agrees(flags: AskFlags, question: string, ended: AbortSignal): Promise<boolean> {
  if (flags.yes || !isAskable(flags)) return true;
  return /^y(es)?$/i.test((await answerTo(`\n${question} [y/N] `, process.stdout, ended)) ?? '');
}

/** Returns the question before this number of changes is applied. */
export const carryOutQuestion = (count: number): string =>
  count === 1 ? 'Carry out this change?' : `Carry out these ${count} changes?`;
