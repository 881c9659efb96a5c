// How much one process takes on at once, and how much of it each connection may have (docs/limits.md).
import { type ByteShare, createByteBudget, createTurns, type Turns } from '../../support/limits.ts';
import { createPace, type Slice } from '../../support/pace.ts';

export interface AdmissionLimits {
  /** Bytes of request bodies in flight, and of answers in flight. */
  inFlightBytes: number;
  /** Lists and searches at once. */
  lists: number;
  /** A page of a list. */
  pageBytes: number;
}

/** The share of one connection. */
export interface Admitted {
  bodies: ByteShare;
  answers: ByteShare;
  /** Lists and searches that read many resources. */
  lists: Turns;
  /** Everything else. */
  singles: Turns;
  /** Bodies that are large enough for parsing them to cost memory and time. */
  largeBodies: Turns;
}

export interface Admission {
  /** @param name of a connection: the same name shares the same limits */
  of(name: string): Admitted;
  /** Long calculations of all connections give way to each other and to short requests. */
  pace: () => Slice;
}

const LIST_QUEUE = { queue: 32, waitMs: 2000 };
const SINGLES = { atOnce: 64, queue: 2000, waitMs: 5000 };
const LARGE_BODIES = { atOnce: 2, queue: 64, waitMs: 5000 };

/** @param maxBodyBytes a body of this size must fit into the share of one connection */
export function createAdmission({
  limits,
  maxBodyBytes,
}: {
  limits: AdmissionLimits;
  maxBodyBytes: number;
}): Admission {
  const bodies = createByteBudget(Math.max(limits.inFlightBytes, 2 * maxBodyBytes));
  const answers = createByteBudget(Math.max(limits.inFlightBytes, 4 * limits.pageBytes));
  const lists = createTurns({ atOnce: limits.lists, ...LIST_QUEUE });
  const singles = createTurns(SINGLES);
  const largeBodies = createTurns(LARGE_BODIES);
  const known = new Map<string, Admitted>();
  return {
    pace: createPace(),
    of(name) {
      const admitted = known.get(name) ?? {
        bodies: bodies.share(),
        answers: answers.share(),
        lists: lists(),
        singles: singles(),
        largeBodies: largeBodies(),
      };
      known.set(name, admitted);
      return admitted;
    },
  };
}
