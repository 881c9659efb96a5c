// Says before the result of a command that Redis came back empty: the bridge then compares and closes nothing of people whom it no
// longer knows, so "no changes" and "no exceptions" mean nothing.
import type { ReadFleet } from '../ops/status/fleet.ts';
import { complain } from './output.ts';

const CONSEQUENCE =
  'Until then the bridge does not know people and groups that were not pushed again: it compares none of their accounts, and closes none.';

/** Returns what was lost, what to do, and what it means for the result; undefined: Redis did not come back empty. */
export async function lostDataText(readFleet: ReadFleet): Promise<string | undefined> {
  const { findings } = await readFleet();
  const lost = findings.find(({ finding }) => finding === 'dataLost');
  return lost && `${lost.message}. ${lost.advice} ${CONSEQUENCE}`;
}

/** Prints the text to standard error. @returns the least exit code of the command: 1 when data was lost, else 0 */
export async function complainLostData(readFleet: ReadFleet): Promise<0 | 1> {
  const text = await lostDataText(readFleet);
  if (text === undefined) return 0;
  complain(text);
  return 1;
}
