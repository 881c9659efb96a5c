// Decides the injected faults of each request. The random numbers are seeded: the same requests in the same
// order get the same faults.
import { parseFaults, type Chance, type ChanceName, type FaultPlan, type FaultRule } from './fault-sets.ts';
import { own } from './json.ts';

/** No answer: the connection is closed at once or after `holdMs`; null = it is held until the client closes it. */
export type Silence = { kind: 'drop' } | { kind: 'hold'; holdMs: number | null };
/** Replaces the handling of the request. */
type InjectedRefusal =
  Silence | { kind: 'html' } | { kind: 'status'; status: number; retryAfter: string | undefined };
/** Replaces the answer after the change was stored. */
export type Loss = Silence | { kind: 'status'; status: number };

/** Truncates a list. Totals count the short list in the mode `total`, the full list in the mode `page`. */
interface Truncation {
  /** Share of the page that is kept, 0 to 1. */
  readonly keep: number;
  readonly mode: 'page' | 'total';
}

export interface InjectedFault {
  readonly latencyMs: number;
  readonly refusal: InjectedRefusal | undefined;
  readonly loss: Loss | undefined;
  readonly truncation: Truncation | undefined;
  /** SCIM changes of members succeed without effect. */
  readonly ignoreMembers: boolean;
  /** Age of the state that reads show, milliseconds; 0 = live. */
  readonly staleMs: number;
}

export interface Faults {
  /** Replaces all faults (body of `PATCH /faults`) and restarts the random numbers; throws SandboxProblem 400. */
  set(body: unknown): void;
  /** Returns the body that was set last. */
  current(): unknown;
  /** True while a fault asks for stale reads. */
  readsMayLag(): boolean;
  /** Returns the faults of one request; each call draws random numbers and counts for matching rules. */
  decide(method: string, path: string): InjectedFault;
}

/** Mulberry32, a small seeded generator. Returns numbers from 0 (inclusive) to 1 (exclusive). */
function createDice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns the detail `name` of a fault if it is a number, else `absent`. */
function numberIn(chance: Chance, name: string, absent: number): number {
  const value = own(chance.detail, name);
  return typeof value === 'number' ? value : absent;
}

/** Returns the status of an injected error, by default 503. */
function statusOf(chance: Chance): number {
  return numberIn(chance, 'status', 503);
}

/** Returns the silence of a fault that holds the answer. */
function holdOf(chance: Chance): Silence {
  const holdMs = own(chance.detail, 'holdMs');
  return { kind: 'hold', holdMs: typeof holdMs === 'number' ? holdMs : null };
}

/** Returns the first of the drawn faults that replace the handling; undefined: the request is handled. */
function refusalOf(hits: ReadonlyMap<ChanceName, Chance>): InjectedRefusal | undefined {
  if (hits.has('dropBefore')) return { kind: 'drop' };
  const held = hits.get('timeoutBeforeCommit');
  if (held) return holdOf(held);
  const limited = hits.get('status429');
  if (limited) {
    const wait = own(limited.detail, 'retryAfter');
    return {
      kind: 'status',
      status: 429,
      retryAfter: typeof wait === 'number' || typeof wait === 'string' ? String(wait) : undefined,
    };
  }
  const broken = hits.get('status5xx');
  if (broken && own(broken.detail, 'afterCommit') !== true) {
    return { kind: 'status', status: statusOf(broken), retryAfter: undefined };
  }
  return hits.has('htmlAnswer') ? { kind: 'html' } : undefined;
}

/**
 * Returns the first of the drawn faults that replace the answer; undefined: the answer is sent. Ignored after a refusal, so that
 * `status5xx` counts here only with `afterCommit`.
 */
function lossOf(hits: ReadonlyMap<ChanceName, Chance>): Loss | undefined {
  if (hits.has('dropAfter')) return { kind: 'drop' };
  const held = hits.get('timeoutAfterCommit');
  if (held) return holdOf(held);
  const broken = hits.get('status5xx');
  return broken ? { kind: 'status', status: statusOf(broken) } : undefined;
}

/** Returns how a list is truncated, by default to half of the page, in the mode `total`. */
function truncationOf(chance: Chance | undefined): Truncation | undefined {
  if (!chance) return undefined;
  return {
    keep: numberIn(chance, 'keep', 0.5),
    mode: own(chance.detail, 'mode') === 'page' ? 'page' : 'total',
  };
}

/** Creates the faults; `initial` has the form of the body of `PATCH /faults`, default none. */
export function createFaults(initial: unknown = {}): Faults {
  let body: unknown = initial;
  let plan: FaultPlan = parseFaults(initial);
  let dice = createDice(plan.seed);
  /** Number of requests that each rule has matched. */
  let matches = new Map<FaultRule, number>();

  /**
   * Returns the first matching rule for which this request is match number `skip + 1` to `skip + times`. That rule and the
   * matching rules before it count the request; later rules do not.
   */
  function ruleFor(method: string, path: string): FaultRule | undefined {
    return plan.rules.find((rule) => {
      if ((rule.method && rule.method !== method) || (rule.path && !rule.path.test(path))) return false;
      const count = (matches.get(rule) ?? 0) + 1;
      matches.set(rule, count);
      return count > rule.skip && count <= rule.skip + rule.times;
    });
  }

  return {
    set(next) {
      plan = parseFaults(next);
      body = next;
      dice = createDice(plan.seed);
      matches = new Map();
    },
    current: () => body,
    readsMayLag: () =>
      [plan.everywhere, ...plan.rules.map((rule) => rule.set)].some((set) => set.staleReadsMs),
    decide(method, path) {
      const rule = ruleFor(method, path);
      // A fault of the rule replaces the fault of the same name for all requests.
      const chances = new Map([...plan.everywhere.chances, ...(rule?.set.chances ?? [])]);
      const hits = new Map([...chances].filter(([, chance]) => dice() < chance.share));
      const [from, to] = rule?.set.latencyMs ?? plan.everywhere.latencyMs ?? [0, 0];
      return {
        latencyMs: to > from ? from + dice() * (to - from) : from,
        refusal: refusalOf(hits),
        loss: lossOf(hits),
        truncation: truncationOf(hits.get('truncateLists')),
        ignoreMembers: hits.has('ignoreMembers'),
        staleMs: rule?.set.staleReadsMs ?? plan.everywhere.staleReadsMs ?? 0,
      };
    },
  };
}
