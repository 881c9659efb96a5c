// How the answer to a request gets lost (fault injection), before anything happened or after the change was stored.
import type { Request } from 'express';
import { systemClock } from '../support/clock.ts';
import type { Loss, Silence } from './faults.ts';
import { Problem } from './problem.ts';

/** Breaks the connection, after holding it as long as the fault says. */
export async function fallSilent(request: Request, silence: Silence): Promise<void> {
  if (silence.kind === 'hold') {
    // Null keeps the socket open until the client, or the end of the sandbox, closes it.
    if (silence.holdMs === null) return;
    await systemClock.sleep(silence.holdMs);
  }
  request.socket.destroy();
}

/** The answer to a committed change is lost; throws the injected status, if that is how. */
export async function loseAnswer(request: Request, loss: Loss): Promise<void> {
  if (loss.kind === 'status') throw new Problem(loss.status, 'Injected fault after the change');
  await fallSilent(request, loss);
}
