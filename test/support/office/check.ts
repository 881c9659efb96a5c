// Compares the sentences of explain, status and plan with the platform of an office.
import { setTimeout as sleep } from 'node:timers/promises';
import type { createOffice } from './office.ts';
import type { OfficePlace } from './place.ts';
import type { Difference } from './truth.ts';

interface Explained {
  verdict: string;
  summary: string;
}

/** Longest wait for pending changes: a change behind a held one stays pending. */
const SETTLE_MS = 8000;
/**
 * Time in which a command may report a difference that does not exist: a killed bridge left leases behind, and a failed change
 * waits for its next attempt.
 */
const AFTER_TROUBLE_MS = 40_000;
/** Largest number of differences that checkClaims asks explain about: while trouble lasts, an answer may take seconds. */
const MOST_CLAIMS = 3;

export function createCheck(place: OfficePlace, office: ReturnType<typeof createOffice>) {
  const faults: string[] = [];
  const run = async (...args: string[]) => await place.commands.run(...args);
  const verdicts = new Map<string, Explained>();

  /** Waits until nothing is pending. */
  async function settle(): Promise<void> {
    const limit = new AbortController();
    await Promise.race([
      place.idle().catch(() => undefined),
      sleep(SETTLE_MS, undefined, { signal: limit.signal }).catch(() => undefined),
    ]);
    limit.abort();
  }
  async function ask(ids: readonly string[]): Promise<void> {
    verdicts.clear();
    for (const id of ids) {
      const { json } = await run('explain', id, '--json');
      const found = Array.isArray(json) ? json[0] : json;
      verdicts.set(id, found?.explanations?.[0] ?? found ?? { verdict: 'unknown', summary: '' });
    }
  }
  const explained = (id: string): Explained => verdicts.get(id) ?? { verdict: '', summary: '' };
  const isCalledFine = (id: string): boolean => {
    const { verdict, summary } = explained(id);
    return verdict === 'asDesired' || (verdict === 'gone' && !summary.includes('left as it is'));
  };
  const words = (ids: readonly string[]): string =>
    ids.map((id) => `${id}: ${explained(id).verdict} ${explained(id).summary}`).join();

  /**
   * Checks that explain calls no resource `asDesired` or `gone` that differs at the platform, also while changes wait or the
   * platform fails.
   */
  async function checkClaims(): Promise<void> {
    const before = (await office.differences()).slice(0, MOST_CLAIMS);
    if (before.length === 0) return;
    await ask([...new Set(before.flatMap(({ ids }) => ids))]);
    const status = await run('status');
    const after = new Set((await office.differences()).map(({ text }) => text));
    const lasting = before.filter(({ text }) => after.has(text));
    // Without a read explain gives the last known state, and others may have changed the platform since.
    const isUnread = (id: string): boolean => explained(id).summary.includes('could not be read now');
    for (const { text, ids } of lasting)
      if (ids.length > 0 && ids.every((id) => isCalledFine(id) && !isUnread(id)))
        faults.push(`meanwhile: ${text}, but ${words(ids)}`);
    // The status does not read the platform, so it need not know of a change by others.
    const isPending = ({ ids }: Difference): boolean =>
      ids.some((id) => ['onItsWay', 'stopped', 'held', 'needsPerson'].includes(explained(id).verdict));
    const pending = lasting.find(isPending);
    if (pending && status.code === 0) faults.push(`meanwhile: status 0, but ${pending.text}\n${status.text}`);
  }

  /** Checks that commands report every difference and, once the bridge has recovered from the trouble, report no other one. */
  async function checkTruth(): Promise<void> {
    const endsAt = Date.now() + AFTER_TROUBLE_MS;
    for (;;) {
      const [unreported, unfounded] = await findFaults();
      faults.push(...unreported);
      if (unreported.length === 0 && unfounded.length > 0 && Date.now() < endsAt) {
        await sleep(1000);
        continue;
      }
      faults.push(...unfounded);
      return showAll();
    }
  }
  /** Returns the differences that no command reports, and the reports of differences that do not exist. */
  async function findFaults(): Promise<[string[], string[]]> {
    const unreported: string[] = [];
    const unfounded: string[] = [];
    const differences = await office.differences();
    await ask([...office.people.filter(({ forgotten }) => !forgotten), ...office.teams].map(({ id }) => id));
    const { code, text: status } = await run('status');
    const unwritten = differences.find(
      ({ ids }) => ids.length > 0 && ids.every((id) => explained(id).verdict === 'differs'),
    );
    const plan = unwritten && (await run('plan'));
    const after = new Set((await office.differences()).map(({ text }) => text));
    const lasting = differences.filter(({ text }) => after.has(text));
    for (const { text, ids } of lasting)
      if (ids.every(isCalledFine)) unreported.push(`${text}, but ${words(ids)}`);
    if (lasting.length > 0 && code === 0 && office.policy() === 'sync')
      unreported.push(`status 0, but ${lasting[0]?.text}\n${status}`);
    if (plan?.code === 0) unreported.push(`plan 0, but ${unwritten?.text}\n${plan.text}`);
    const behind = await office.behindFormer();
    const named = new Set([...differences.flatMap(({ ids }) => ids), ...behind]);
    for (const [id, { verdict, summary }] of verdicts)
      if (!named.has(id) && !['asDesired', 'gone', 'leftAlone'].includes(verdict))
        unfounded.push(`${id}: ${verdict}: ${summary}`, (await run('explain', id)).text);
    const isLeftAlone = [...verdicts.values()].some(({ verdict }) => verdict === 'leftAlone');
    if (differences.length === 0 && behind.size === 0 && !isLeftAlone && code !== 0)
      unfounded.push(`status ${code}, but no difference:\n${status}`);
    return [unreported, unfounded];
  }

  /** Checks that the platform equals the source. */
  async function checkEnd(): Promise<void> {
    const differences = await office.differences();
    for (const { text, ids } of differences) {
      faults.push(`at the end: ${text}`);
      for (const id of ids) faults.push((await run('explain', id)).text);
    }
    if (differences.length > 0) await showAll();
  }
  async function showAll(): Promise<void> {
    if (faults.length === 0) return;
    for (const command of ['approvals list', 'exceptions', 'dead-letters list', 'plan', 'log'])
      faults.push(`$ ${command}`, (await run(...command.split(' '))).text);
  }
  return { faults, settle, checkClaims, checkTruth, checkEnd };
}
