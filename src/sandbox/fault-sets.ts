// Parses fault settings: the body of `PATCH /faults` and the file of `--faults`. Errors name the fault.
import { isJsonObject, own, requireObject, type SandboxJsonObject } from './json.ts';
import { SandboxProblem } from './problem.ts';
import { LONGEST_LAG_MS } from './recent-changes.ts';

/** Probability of a fault (0 to 1) and its details. */
export interface Chance {
  readonly share: number;
  readonly detail: SandboxJsonObject;
}

/** Faults that happen with a probability; docs/sandbox.md says what each does. */
const CHANCES = [
  'status429',
  'status5xx',
  'timeoutBeforeCommit',
  'timeoutAfterCommit',
  'dropBefore',
  'dropAfter',
  'htmlAnswer',
  'truncateLists',
  'ignoreMembers',
] as const;
export type ChanceName = (typeof CHANCES)[number];

interface FaultSet {
  /** Shortest and longest wait before the request is handled, milliseconds; undefined = no wait. */
  readonly latencyMs: readonly [from: number, to: number] | undefined;
  /** Age of the state that reads show, milliseconds; undefined = live. */
  readonly staleReadsMs: number | undefined;
  readonly chances: ReadonlyMap<ChanceName, Chance>;
}

/** Faults for the requests that match; undefined matches all. */
export interface FaultRule {
  readonly method: string | undefined;
  readonly path: RegExp | undefined;
  /** Number of matching requests, after those of `skip`, to which the rule applies. */
  readonly times: number;
  /** Number of the first matching requests to which the rule does not apply yet. */
  readonly skip: number;
  readonly set: FaultSet;
}

export interface FaultPlan {
  /** Seed of the random numbers, from 0 to 2^32. */
  readonly seed: number;
  /** Faults of all requests. */
  readonly everywhere: FaultSet;
  readonly rules: readonly FaultRule[];
}

type Check = (value: unknown) => boolean;
const isBetween =
  (least: number, most: number): Check =>
  (value) =>
    typeof value === 'number' && value >= least && value <= most;
/** Longest latency, and longest time that a connection is held. */
const HOUR_MS = 3_600_000;
/** Detail of the faults that hold the connection. */
const HOLD: Readonly<Record<string, Check>> = { holdMs: isBetween(0, HOUR_MS) };
/** Details that each fault accepts besides its share; other properties are ignored, as in every body (ASSUMED-109). */
const DETAILS: Readonly<Partial<Record<ChanceName, Readonly<Record<string, Check>>>>> = {
  status429: { retryAfter: (value) => typeof value === 'string' || isBetween(0, Infinity)(value) },
  status5xx: { status: isBetween(400, 599), afterCommit: (value) => typeof value === 'boolean' },
  timeoutBeforeCommit: HOLD,
  timeoutAfterCommit: HOLD,
  truncateLists: { keep: isBetween(0, 1), mode: (value) => value === 'page' || value === 'total' },
};

const RULE_PROPERTIES = ['method', 'path', 'times', 'skip'];

function requireNumber(value: unknown, name: string, least: number, most: number): number {
  if (typeof value !== 'number' || !(value >= least && value <= most)) {
    throw new SandboxProblem(400, `Fault ${name} must be a number from ${least} to ${most}`);
  }
  return value;
}

function requireDetails(detail: SandboxJsonObject, name: ChanceName): void {
  for (const [property, check] of Object.entries(DETAILS[name] ?? {})) {
    const value = own(detail, property) ?? null;
    if (value !== null && !check(value))
      throw new SandboxProblem(400, `Fault ${name}: ${property} cannot take this value`);
  }
}

/** Parses `true` (always), a number (the share) or an object with `share` (default 1) and details. */
function parseChance(value: unknown, name: ChanceName): Chance {
  if (value === true) return { share: 1, detail: {} };
  if (isJsonObject(value)) {
    requireDetails(value, name);
    return { share: requireNumber(own(value, 'share') ?? 1, `${name}.share`, 0, 1), detail: value };
  }
  return { share: requireNumber(value, name, 0, 1), detail: {} };
}

/** Parses a number of milliseconds or `[from, to]`. */
function parseLatency(value: unknown): readonly [number, number] | undefined {
  if (value === undefined) return undefined;
  const [from, to] = Array.isArray(value) ? (value as unknown[]) : [value, value];
  return [requireNumber(from, 'latencyMs', 0, HOUR_MS), requireNumber(to, 'latencyMs', 0, HOUR_MS)];
}

/** Parses the faults of an object. @param otherProperties allowed properties of the object that are not faults */
function parseSet(source: SandboxJsonObject, otherProperties: readonly string[]): FaultSet {
  const chances = new Map<ChanceName, Chance>();
  for (const [name, value] of Object.entries(source)) {
    const known = CHANCES.find((chance) => chance === name);
    if (known) chances.set(known, parseChance(value, known));
    else if (name !== 'latencyMs' && name !== 'staleReadsMs' && !otherProperties.includes(name)) {
      throw new SandboxProblem(400, `Unknown fault: ${name}`);
    }
  }
  const stale = own(source, 'staleReadsMs');
  return {
    latencyMs: parseLatency(own(source, 'latencyMs')),
    staleReadsMs: stale === undefined ? undefined : requireNumber(stale, 'staleReadsMs', 0, LONGEST_LAG_MS),
    chances,
  };
}

function parsePattern(value: unknown): RegExp | undefined {
  if (value === undefined) return undefined;
  try {
    if (typeof value !== 'string') throw new Error('it is not text');
    return new RegExp(value);
  } catch (cause) {
    throw new SandboxProblem(400, `Fault rule: path is not a regular expression (${String(cause)})`);
  }
}

function parseRule(entry: unknown): FaultRule {
  const source = requireObject(entry, 'A fault rule');
  const method = own(source, 'method');
  if (method !== undefined && typeof method !== 'string')
    throw new SandboxProblem(400, 'Fault rule: method must be text');
  return {
    method: method?.toUpperCase(),
    path: parsePattern(own(source, 'path')),
    times: requireNumber(own(source, 'times') ?? Infinity, 'times', 0, Infinity),
    skip: requireNumber(own(source, 'skip') ?? 0, 'skip', 0, Infinity),
    set: parseSet(source, RULE_PROPERTIES),
  };
}

/** Parses the body of `PATCH /faults`; `{}` means no faults. @throws SandboxProblem 400 */
export function parseFaults(body: unknown): FaultPlan {
  const source = requireObject(body, 'Faults');
  const rules = own(source, 'rules') ?? [];
  if (!Array.isArray(rules)) throw new SandboxProblem(400, 'rules must be a list');
  return {
    seed: requireNumber(own(source, 'seed') ?? 1, 'seed', 0, 2 ** 32),
    everywhere: parseSet(source, ['seed', 'rules']),
    rules: rules.map(parseRule),
  };
}
