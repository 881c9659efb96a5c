// Runs commands at the place of a test, with their text on one line.
import type { Commands } from './command.ts';

/** @param place called for each command, because tests open a new place each */
export function commandsAt(place: () => { commands: Pick<Commands, 'run'> }) {
  /** Returns the exit code of a command, and its text with single blanks instead of line breaks and columns. */
  async function outcome(...args: string[]): Promise<[code: number, text: string]> {
    const { code, text } = await place().commands.run(...args);
    return [code, text.replaceAll(/\s+/g, ' ')];
  }

  return {
    outcome,
    /** Returns the text of `outcome`. */
    told: async (...args: string[]): Promise<string> => (await outcome(...args))[1],
    /** Expects exit code 0. */
    succeed: async (...args: string[]): Promise<void> =>
      expect(await outcome(...args)).toEqual([0, expect.anything()]),
  };
}
