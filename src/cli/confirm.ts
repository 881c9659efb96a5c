// Asks before a destructive order; without a terminal the order needs --yes.
import { createInterface } from 'node:readline/promises';

/** Asks one question on the terminal. @returns the answer without blanks around it */
export async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(question);
  terminal.close();
  return answer.trim();
}

/** The error when an order needs a yes and no terminal is there to ask on. */
export const NEEDS_YES = 'Nothing was changed: without a terminal, and with --json, this order needs --yes.';

/**
 * Resolves when the operator agrees: by `--yes`, or by the answer `yes` on a terminal.
 * @param show called before the question, to print what the order would change
 * @throws Error when the operator does not agree, or when `--yes` is missing without a terminal or with `--json`
 */
export async function confirm(
  { yes, json }: { yes?: boolean; json?: boolean },
  question: string,
  show: () => void | Promise<void> = () => undefined,
): Promise<void> {
  if (yes) return;
  if (json || !process.stdin.isTTY) throw new Error(NEEDS_YES);
  await show();
  if ((await ask(`${question} Type yes: `)) !== 'yes') throw new Error('Nothing was changed.');
}
