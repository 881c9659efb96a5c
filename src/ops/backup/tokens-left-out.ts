// Finds the inbound tokens in a backup that are not stored after the restore, such as when it kept the stored tokens.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { CheckedBackup, TokenInBackup } from './backup-file.ts';

/** Returns the tokens of the file that are not stored with the same name and digest. */
export async function tokensLeftOut(
  states: readonly DesiredState[],
  { tokens, tokenLines }: Pick<CheckedBackup, 'tokens' | 'tokenLines'>,
): Promise<TokenInBackup[]> {
  const stored = new Set<string>();
  for (const state of states)
    for (const { name, digest } of await state.tokens.all())
      stored.add(JSON.stringify([state.connection, name, digest]));
  const kept = new Set<string>();
  for (const { connection, key, items } of tokenLines) {
    if (key !== 'tokens') continue;
    for (const [name, text] of items as [string, string][]) {
      const { digest } = JSON.parse(text) as { digest: string };
      if (stored.has(JSON.stringify([connection, name, digest]))) kept.add(`${connection} ${name}`);
    }
  }
  return tokens.filter(({ connection, name }) => !kept.has(`${connection} ${name}`));
}
