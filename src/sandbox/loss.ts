// Replaces the answer of a request for fault injection: closes the connection without an answer, before or after the change was
// stored, or answers an error status after it was stored.
import type { Request } from 'express';
import { systemClock } from '../support/sources.ts';
import type { Loss, Silence } from './faults.ts';
import { SandboxProblem } from './problem.ts';

/** Closes the connection without an answer: at once, or after the hold time of the fault. */
export async function closeSilently(request: Request, silence: Silence): Promise<void> {
  if (silence.kind === 'hold') {
    // Null keeps the socket open until the client or the sandbox closes it.
    if (silence.holdMs === null) return;
    const closed = new AbortController();
    request.socket.once('close', () => closed.abort());
    await systemClock.sleep(silence.holdMs, closed.signal);
  }
  request.socket.destroy();
}

/** Loses the answer to a stored change; a loss of the kind `status` is thrown as a SandboxProblem. */
export async function loseAnswer(request: Request, loss: Loss): Promise<void> {
  if (loss.kind === 'status') throw new SandboxProblem(loss.status, 'Injected fault after the change');
  await closeSilently(request, loss);
}
