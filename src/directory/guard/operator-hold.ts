// Stores the hold of a target, which stops all writes to the target. A hold comes from an operator, from a reconcile run that found
// another tenant at the target's address, or from the service, because Redis came back with older data (redis/older-data.ts). Each
// connection has its own holds; a hold because of another tenant is in force for all connections of the target (ADR 0022). An
// operator's hold may wait beneath such a hold. Below the store are the words for operators about a hold and its end.
import type { Keyspace } from '../keys.ts';
import type { StoreDeps } from '../redis/scripts.ts';

export interface Hold {
  /** Unix milliseconds of Redis. */
  since: number;
  /** TENANT_HOLDER: a reconcile run; OLDER_DATA_HOLDER: the service; every other text: the name of an operator (`operatorName`). */
  by: string;
  /** Remark of the operator. */
  note?: string;
}

/** Name and remark of the operator of a hold. */
export type OperatorHold = Pick<Hold, 'by' | 'note'>;

/** Holder of a hold because the target may be another tenant (ADR 0022). */
export const TENANT_HOLDER = 'reconcile';

/** Holder of a hold because Redis came back with older data (redis/older-data.ts). */
export const OLDER_DATA_HOLDER = 'scim-bridge';

/** Start of the note of a hold of OLDER_DATA_HOLDER; it also follows the note of a hold that was there before. */
export const OLDER_DATA = 'Redis came back with older data';

/**
 * Returns the name of an operator as a hold stores it. The holder's name tells the kinds of holds apart, and an operator, such as
 * the account of the service, may have the name of another holder.
 */
const operatorName = (by: string): string =>
  by === TENANT_HOLDER || by === OLDER_DATA_HOLDER ? `${by} (operator)` : by;

export const isTenantHold = ({ by }: Pick<Hold, 'by'>): boolean => by === TENANT_HOLDER;

/** @param others keys of the other connections of the target */
export function createOperatorHold(
  { redis, scripts, keys }: StoreDeps,
  target: string,
  others: readonly Keyspace[],
) {
  const name = keys.key('hold', target);

  /**
   * Holds the target for an operator; running syncs stop before their next step.
   * @param options `replaces`: the hold replaces that of an operator
   * @returns false: an operator's hold exists (lua/holds.lua)
   */
  async function hold(by: string, note?: string, { replaces = false } = {}): Promise<boolean> {
    const [tag] = await scripts.run('hold', keys.base, { target, by: operatorName(by), note, replaces });
    return tag === 'held';
  }

  /** Holds the target because it may be another tenant. Running syncs, also of other connections, stop before their next step. */
  async function beginTenantHold(why: string): Promise<void> {
    await scripts.run('hold', keys.base, { target, by: TENANT_HOLDER, note: why, replaces: false });
    // Leases end after the hold is stored: a sync of another connection that takes a lease later finds it (sync-resource.ts).
    for (const { base } of others) await scripts.run('end_leases', base, { target });
  }

  /** Ends the hold of an operator, and notifies the relays. @returns false when there was none */
  async function release(): Promise<boolean> {
    const [tag] = await scripts.run('release_hold', keys.base, { target, tenant: false });
    return tag === 'released';
  }

  /**
   * Ends this connection's hold because of another tenant; an operator's hold that waited beneath it (lua/holds.lua) is in force
   * again. The other connections need a run, because their runs during the hold wrote nothing.
   */
  async function endTenantHold(): Promise<void> {
    const own = await read(name);
    if (!own || !isTenantHold(own)) return;
    // The need of a run is noted before the release in case this process ends in between, and once more after it, because a run
    // that began before the release wrote nothing.
    await noteOthers();
    await scripts.run('release_hold', keys.base, { target, tenant: true });
    await noteOthers();
  }

  /** Notes that the other connections of the target need a run. */
  async function noteOthers(): Promise<void> {
    for (const { base } of others) await scripts.run('note_anew', base, { target });
  }

  /**
   * Returns the hold because of another tenant that another connection of the target has; its note names the connection. Undefined:
   * there is none. The keys of each connection are read, because they may be on different nodes, where no script of this connection
   * sees them.
   */
  async function tenantHoldElsewhere(): Promise<Hold | undefined> {
    const holds = await Promise.all(others.map((each) => read(each.key('hold', target))));
    return holds.find((hold) => hold !== undefined && isTenantHold(hold));
  }

  /**
   * Returns the hold in force; undefined: none. A hold because of another tenant, of this or another connection, goes before an
   * operator's hold (lua/holds.lua: `operator`).
   */
  async function onHold(): Promise<Hold | undefined> {
    const [own, elsewhere] = await Promise.all([read(name), tenantHoldElsewhere()]);
    return own && isTenantHold(own) ? own : (elsewhere ?? own);
  }

  async function read(key: string): Promise<Hold | undefined> {
    const text = await redis.get(key);
    if (text === null) return undefined;
    const { since, by, note } = JSON.parse(text) as Hold;
    return { since, by, ...(note === undefined ? {} : { note }) };
  }

  /**
   * Returns the operator's hold, also while a hold because of another tenant is in force; undefined: there is none. A hold of the
   * service (OLDER_DATA_HOLDER) is no operator's.
   */
  async function operatorHold(): Promise<OperatorHold | undefined> {
    const text = await redis.get(name);
    if (text === null) return undefined;
    const { by, note, operator, operatorNote } = JSON.parse(text) as Hold & {
      operator?: string;
      operatorNote?: string;
    };
    const found = isTenantHold({ by }) ? { by: operator, note: operatorNote } : { by, note };
    if (found.by === undefined || found.by === OLDER_DATA_HOLDER) return undefined;
    return { by: found.by, ...(found.note === undefined ? {} : { note: found.note }) };
  }

  return { hold, release, beginTenantHold, endTenantHold, tenantHoldElsewhere, onHold, operatorHold };
}

/** Returns the holder of a hold; if it is a reconcile run, also the note, which begins with the name of the connection. */
export const holderWords = ({ by, note }: OperatorHold): string =>
  isTenantHold({ by }) && note !== undefined ? `${by} (${note})` : by;

/** Returns for an operator how a hold because of another tenant ends. */
export const tenantAdvice = (target: string): string =>
  `If ${target} is meant to be another tenant: scim-bridge reconcile --target ${target} --accept-tenant. If not: correct targets.${target}.url, or the DNS entry or proxy that leads it there, and restart; the reconcile of the start ends the hold`;

/** Returns for an operator how the hold of a target ends. */
export const holdAdvice = (target: string, hold: Pick<Hold, 'by'>): string =>
  isTenantHold(hold) ? tenantAdvice(target) : `scim-bridge release --target ${target} ends it`;

/**
 * Returns a text: when the guard judges the changes of an expired approval anew, which is at their next sync. A target on hold has
 * no syncs.
 * @param endOfHold `holdAdvice` of the target; undefined: it is not on hold
 */
export const judgedAnew = (endOfHold: string | undefined): string =>
  `the guard judges its changes anew${endOfHold === undefined ? ', each with its next sync' : ` after the end of the hold of the target: ${endOfHold}`}`;

/** End of a text about the next sync or reconcile, for places that do not know whether the target is on hold: no sync runs then. */
export const BUT_NOT_ON_HOLD = ', but not while the target is on hold';

/**
 * Returns a text: a run ended because the target was on hold. The text does not say that the target is on hold now, because
 * reports are stored and read later.
 */
export const wasOnHold = (target: string, hold: Pick<Hold, 'by'>): string =>
  `the target was on hold: ${isTenantHold(hold) ? tenantAdvice(target) : `scim-bridge release --target ${target} ends a hold`}`;

/** Returns a text: nothing is written to the target on hold, and until when. */
export const heldUntil = (target: string, hold: Pick<Hold, 'by'>): string =>
  isTenantHold(hold)
    ? `nothing is written. ${tenantAdvice(target)}`
    : `nothing is written until scim-bridge release --target ${target}`;
