// Causes trouble in an office: the platform fails, the bridge is killed, an operator stops all writes.
import type { Dice } from './dice.ts';
import type { OfficePlace } from './place.ts';

const BUSY = { status429: { share: 0.5, retryAfter: 1 } };
/** Body of `PATCH /faults` of the sandbox, by what the platform does. */
const FAULTS: [string, object][] = [
  ['asks for pauses', BUSY],
  ['answers 500', { status5xx: { share: 0.4, status: 500 } }],
  ['answers 503 after the change', { status5xx: { share: 0.5, status: 503, afterCommit: true } }],
  ['loses requests and answers', { dropBefore: 0.2, dropAfter: 0.3 }],
  ['is slow', { latencyMs: [100, 900], timeoutAfterCommit: { share: 0.2, holdMs: 1500 } }],
  ['is away', { dropBefore: 1 }],
  ['refuses changes', { rules: [{ method: 'PATCH', status5xx: { share: 0.4, status: 400 } }] }],
  ['refuses everything new', { rules: [{ method: 'POST', status5xx: { share: 0.4, status: 400 } }] }],
];

export type Trouble = ReturnType<typeof createTrouble>;

export function createTrouble(place: OfficePlace, { pick }: Dice) {
  let lasting: 'fault' | 'hold' | undefined;

  async function fail(): Promise<string> {
    const [text, faults] = pick(FAULTS) ?? ['', {}];
    await place.platform.control('PATCH', '/faults', faults);
    lasting = 'fault';
    return `the platform ${text}`;
  }
  async function hold(): Promise<string> {
    await place.commands.run('hold');
    lasting = 'hold';
    return 'holds all writes';
  }
  async function end(): Promise<string> {
    if (lasting === 'hold') await place.commands.run('release');
    else await place.platform.control('PATCH', '/faults', {});
    const text = lasting === 'hold' ? 'releases the hold' : 'the platform is well again';
    lasting = undefined;
    return text;
  }
  /** Kills the bridge while the source or an operator works. */
  async function killDuring(work: () => Promise<string>): Promise<string> {
    const [text] = await Promise.all([work(), place.kill()]);
    return `${text}; the bridge is killed meanwhile`;
  }
  return { fail, hold, end, killDuring, lasting: () => lasting };
}
