// How the answer to a committed change gets lost (fault injection); the change itself stays.
import type { Request } from 'express';
import { systemClock } from '../support/clock.ts';
import type { Loss } from './faults.ts';
import { Problem } from './problem.ts';

/** Throws the injected status, or breaks the connection, after holding it as long as the fault says. */
export async function loseAnswer(request: Request, loss: Loss): Promise<void> {
  if (loss.kind === 'status') throw new Problem(loss.status, 'Injected fault after the change');
  if (loss.kind === 'hold') {
    // Null keeps the socket open until the client, or the end of the sandbox, closes it.
    if (loss.holdMs === null) return;
    await systemClock.sleep(loss.holdMs);
  }
  request.socket.destroy();
}
