// Creates the limits for concurrent work of a process, and the share of each connection in them (docs/limits.md).
import { type ByteShare, createByteBudget, createTurns, type Turns } from '../../support/limits.ts';
import { createPace, type Slice } from '../../support/pace.ts';

interface AdmissionLimits {
  /** Limit of bytes of request bodies in flight, and likewise of answers in flight. */
  inFlightBytes: number;
  /** Limit of concurrent lists and searches. */
  lists: number;
  /** Largest page of a list, in bytes. */
  pageBytes: number;
}

/** The share of one connection: at most half of each limit, so that other connections can go on. */
export interface Admitted {
  /** Bytes of request bodies in memory. */
  bodies: ByteShare;
  /** Bytes of answers that clients have not read yet. */
  answers: ByteShare;
  /** Lists and searches that read many resources. */
  lists: Turns;
  /** Requests for one resource. */
  singles: Turns;
  /** Polls of the receiver of events; each poll signs up to 500 tokens. */
  polls: Turns;
  /** GET requests of the admin API. */
  readings: Turns;
  /** Bodies above 256 kB: parsing them takes memory and blocks the event loop. */
  largeBodies: Turns;
  /** Groups whose members take more than a page: their text takes several times its size while it is built. */
  largeAnswers: Turns;
}

export interface Admission {
  /** Returns the share of a connection, or of the admin API (`admin`); the same name always gets the same share. */
  of(name: string): Admitted;
  /** Starts a long calculation in slices. Short requests and other calculations run between the slices (support/pace.ts). */
  pace: () => Slice;
}

// Limits of turns (support/limits.ts): `atOnce` requests run, `queue` requests of a connection wait, each for `waitMs` at most. The
// `atOnce` of lists comes from the settings.
const LIST_QUEUE = { queue: 32, waitMs: 2000 };
const SINGLES = { atOnce: 64, queue: 2000, waitMs: 5000 };
const READINGS = { atOnce: 16, queue: 200, waitMs: 10_000 };
const POLLS = { atOnce: 2, queue: 16, waitMs: 2000 };
const LARGE_BODIES = { atOnce: 2, queue: 64, waitMs: 5000 };
const LARGE_ANSWERS = { atOnce: 2, queue: 64, waitMs: 5000 };

/**
 * Creates the limits of this process.
 * @param maxBodyBytes size of the largest body. The limit of request bodies in flight is at least twice this size, because one
 * connection gets at most half of it.
 */
export function createAdmission({
  limits,
  maxBodyBytes,
}: {
  limits: AdmissionLimits;
  maxBodyBytes: number;
}): Admission {
  // A share is at most half of its budget. One body of the largest size, and two full pages, always fit into a share.
  const bodies = createByteBudget(Math.max(limits.inFlightBytes, 2 * maxBodyBytes));
  const answers = createByteBudget(Math.max(limits.inFlightBytes, 4 * limits.pageBytes));
  const newListTurns = createTurns({ atOnce: limits.lists, ...LIST_QUEUE });
  const newSingleTurns = createTurns(SINGLES);
  const newReadingTurns = createTurns(READINGS);
  const newPollTurns = createTurns(POLLS);
  const newLargeBodyTurns = createTurns(LARGE_BODIES);
  const newLargeAnswerTurns = createTurns(LARGE_ANSWERS);
  const known = new Map<string, Admitted>();
  return {
    pace: createPace(),
    of(name) {
      const admitted = known.get(name) ?? {
        bodies: bodies.share(),
        answers: answers.share(),
        lists: newListTurns(),
        singles: newSingleTurns(),
        readings: newReadingTurns(),
        polls: newPollTurns(),
        largeBodies: newLargeBodyTurns(),
        largeAnswers: newLargeAnswerTurns(),
      };
      known.set(name, admitted);
      return admitted;
    },
  };
}
