// Sends an answer and counts it until the client has read it: clients that read slowly can not fill the memory.
import type { Response } from 'express';
import type { Answer } from '../../provider/context.ts';
import type { ByteShare } from '../../support/byte-budget.ts';
import { Busy } from '../../support/turns.ts';
import { respond } from '../scim/respond.ts';

/** The system takes shorter answers at once. */
const LARGE_CHARACTERS = 16_384;
/** A client that has not read a large answer after this time is cut off. */
const READ_LIMIT_MS = 60_000;
const RETRY_AFTER_SECONDS = 2;

/** @throws Busy when answers that were not read yet fill the share of the connection */
export function send(response: Response, answer: Answer, answers: ByteShare): void {
  const size = answer.text?.length ?? 0;
  if (size <= LARGE_CHARACTERS) {
    respond(response, answer);
    return;
  }
  // The client has left.
  if (response.closed) return;
  if (!answers.take(size)) throw new Busy(RETRY_AFTER_SECONDS);
  const timer = setTimeout(() => response.destroy(), READ_LIMIT_MS);
  response.once('close', () => {
    clearTimeout(timer);
    answers.give(size);
  });
  respond(response, answer);
}
