// Newline-delimited JSON, one value to a line, out of text that arrives in pieces (contract 5.2, 6.3).
import { scanJson } from '../support/json-bounds.ts';
import { parseJson } from './answer.ts';
import type { OpenAnswer } from './streams.ts';

/** Longest line that is read, characters; it is parsed as one value. */
const MAX_LINE = 8 * 1024 * 1024;
const BOUNDS = { maxDepth: 32, maxStructure: 1_000_000 };

/** The lines of a text without their ends; the last one counts without an end of its own. */
async function* linesOf(answer: OpenAnswer): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const piece of answer.text) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw answer.refuse('a line without end');
    yield* lines;
  }
  yield rest;
}

/** The JSON value of every line that is not empty. Throws PlatformDecode for a line that is no JSON. */
export async function* jsonLines(answer: OpenAnswer): AsyncGenerator<unknown, void, undefined> {
  for await (const line of linesOf(answer)) {
    if (line.trim() === '') continue;
    const tooMuch = scanJson(Buffer.from(line), BOUNDS)?.reason;
    if (tooMuch !== undefined) throw answer.refuse(`a line that ${tooMuch}`);
    const json = parseJson(line);
    if (json === undefined) throw answer.refuse('a line that is no JSON');
    yield json.value;
  }
}
