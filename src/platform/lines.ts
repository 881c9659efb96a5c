// Parses newline-delimited JSON from text that arrives in pieces (contract 5.2, 6.3).
import { scanJson } from '../support/limits.ts';
import { parseJson } from './readers.ts';
import type { PlatformError } from './errors.ts';
import type { OpenAnswer } from './streams.ts';

/** Longest line in characters; a line is parsed as one value. */
const MAX_LINE = 8 * 1024 * 1024;
/** Limits of one line for the JSON parser. */
const BOUNDS = { maxDepth: 32, maxStructure: 1_000_000 };

/** Yields the lines without their line ends. `isEnded`: false for a last line without line end. */
async function* linesOf(
  answer: OpenAnswer,
): AsyncGenerator<{ line: string; isEnded: boolean }, void, undefined> {
  let rest = '';
  for await (const piece of answer.text) {
    const [end = '', ...others] = piece.split('\n');
    rest += end;
    for (const other of others) {
      yield { line: rest, isEnded: true };
      rest = other;
    }
    if (rest.length > MAX_LINE) throw answer.refuse('a line that is too long');
  }
  yield { line: rest, isEnded: false };
}

/**
 * Yields the JSON value of every non-empty line.
 * @param whenCut returns the error for a record that is cut: a last line without line end that is not JSON; absent: as for other
 *   lines
 * @throws PlatformDecode for a line that is not JSON
 */
export async function* jsonLines(
  answer: OpenAnswer,
  whenCut?: () => PlatformError,
): AsyncGenerator<unknown, void, undefined> {
  for await (const { line, isEnded } of linesOf(answer)) {
    if (line.trim() === '') continue;
    const tooMuch = scanJson(Buffer.from(line), BOUNDS)?.reason;
    if (tooMuch !== undefined) throw answer.refuse(`a line that ${tooMuch}`);
    const json = parseJson(line);
    // A text that begins like no record comes from something else than the platform, such as a proxy.
    if (json === undefined && !isEnded && whenCut && line.trimStart().startsWith('{')) throw whenCut();
    if (json === undefined) throw answer.refuse('a line that is not JSON');
    yield json.value;
  }
}
