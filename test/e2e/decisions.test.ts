// Tests random pushes, drift and decisions about held changes: no difference is left unexplained, and when all is approved,
// the platform equals the source.
import '../support/load-modules.ts';
import { createOffice } from '../support/office.ts';
import { openPlace, type Place } from '../support/situation.ts';

const SEEDS = process.env.DECISIONS_SEED?.split(',').map(Number) ?? [9, 12];
const STEPS = Number(process.env.DECISIONS_STEPS ?? 40);
const one = { count: 1, percent: 100 };

let place: Place;
afterEach(() => place.stop());

test.each(SEEDS)(
  'seed %d',
  async (seed) => {
    const guard = { deactivate: one, delete: one, removeMembers: one, clearAttributes: one };
    place = await openPlace({
      target: { guard, attributes: { badge: { type: 'string', from: 'nickName' } } },
    });
    const office = createOffice(place, seed);
    const faults: string[] = [];
    const run = async (...args: string[]) => await place.commands.run(...args);
    /** Waits until nothing is pending. */
    async function settle(): Promise<void> {
      // A resource behind a held one waits longer.
      await Promise.race([
        place.idle().catch(() => undefined),
        new Promise((resolve) => setTimeout(resolve, 8000)),
      ]);
    }
    async function verdictOf(id: string): Promise<{ verdict: string; summary: string }> {
      const { json } = await run('explain', id, '--json');
      const found = Array.isArray(json) ? json[0] : json;
      return found?.explanations?.[0] ?? found ?? { verdict: 'unknown', summary: '' };
    }
    async function checkTruth(): Promise<void> {
      const differences = await office.differences();
      const verdicts = new Map<string, { verdict: string; summary: string }>();
      for (const { id } of [...office.people, ...office.teams]) verdicts.set(id, await verdictOf(id));
      const fine = (id: string): boolean => {
        const { verdict, summary } = verdicts.get(id) ?? { verdict: '', summary: '' };
        return verdict === 'asDesired' || (verdict === 'gone' && !summary.includes('left as it is'));
      };
      for (const { text, ids } of differences)
        if (ids.every(fine))
          faults.push(
            `${text}, but ${ids.map((id) => `${id}: ${verdicts.get(id)?.verdict} ${verdicts.get(id)?.summary}`).join()}`,
          );
      const behind = await office.behindFormer();
      const named = new Set([...differences.flatMap(({ ids }) => ids), ...behind]);
      for (const [id, { verdict, summary }] of verdicts)
        if (!named.has(id) && !['asDesired', 'gone', 'leftAlone'].includes(verdict))
          faults.push(`${id}: ${verdict}: ${summary}`, (await run('explain', id)).text);
      if (faults.length > 0)
        for (const command of ['approvals list', 'exceptions', 'plan', 'log'])
          faults.push(`$ ${command}`, (await run(...command.split(' '))).text);
      const { code, text } = await run('status');
      const isLeftAlone = [...verdicts.values()].some(({ verdict }) => verdict === 'leftAlone');
      if (differences.length > 0 && code === 0 && office.policy() === 'sync')
        faults.push(`status 0, but ${differences[0]?.text}\n${text}`);
      if (differences.length === 0 && behind.size === 0 && !isLeftAlone && code !== 0)
        faults.push(`status ${code}, but no difference:\n${text}`);
    }
    for (let index = 0; index < 4; index++) await office.hire();
    for (let index = 0; index < 2; index++) await office.found();
    for (let step = 0; step < STEPS && faults.length === 0; step++) {
      await office.live();
      if (step % 3 === 2) {
        await settle();
        if (step % 6 === 5) {
          await run('reconcile', '--yes');
          await settle();
          await checkTruth();
        }
      }
    }
    if (faults.length === 0) {
      // Approves everything: then the platform has to equal the source.
      await office.useSettings({ policy: 'sync', users: { protected: [] } });
      for (let round = 0; round < 8; round++) {
        await settle();
        const lists: any[] = await office.json('approvals', 'list', '--all');
        for (const { id, state, stillRejected } of lists)
          if (state === 'held') await office.order('approve', id);
          else if (state === 'rejected' && stillRejected > 0) await office.order('withdraw', id);
        await settle();
        await run('dead-letters', 'retry', '--all');
        await run('reconcile', '--yes');
        await settle();
        if ((await office.differences()).length === 0) break;
      }
      await checkTruth();
      for (const { text, ids } of await office.differences()) {
        faults.push(`at the end: ${text}`);
        for (const id of ids) faults.push((await run('explain', id)).text);
        faults.push((await run('dead-letters', 'list')).text, (await run('plan')).text);
      }
    }
    if (faults.length > 0) throw new Error(`${office.diary.join('\n')}\n---\n${faults.join('\n')}\n===`);
  },
  600_000,
);
