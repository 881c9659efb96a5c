// Causes each situation of docs/situations.md from outside and compares what status, plan, explain, doctor and the alerts tell
// with the page. UPDATE_SITUATIONS=1 writes the page.
import { setMaxListeners } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import '../support/load-modules.ts';
import { TOLD, UNTOLD } from '../support/alerts-now.ts';
import { ask, openPlace, type Answers } from '../support/situation.ts';
import { ANN, run, SITUATIONS as USUAL, type Situation } from '../support/situation-table.ts';
import { MORE_SITUATIONS } from '../support/situation-table-more.ts';

const PAGE = join(import.meta.dirname, '../../docs/situations.md');
const SITUATIONS: Situation[] = [...USUAL, ...MORE_SITUATIONS];
const cells = new Map<string, string[]>();
// Many commands run at the same time in this process, and each of them listens for signals.
setMaxListeners(100, process);

/** Without what differs from run to run. */
const masked = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replaceAll(/\b\d+ (ms|s|min|h|d)\b/g, 'N $1')
    .replaceAll('node dist/main.js', 'scim-bridge')
    // The client may end its connection to a replica before the command has the answer.
    .replaceAll('the connection broke, or it is a replica', 'it is a replica')
    .replaceAll('|', '\\|')
    .replace(/^[\s✘✔!–…⏸≠-]+/u, '')
    .trim();

const MOST = 110;
const NOT_TOLD = 'NOT TOLD';
const isMissing = (cell: string): boolean => cell.includes(NOT_TOLD);

function cellsOf(situation: Situation, answers: Answers): string[] {
  const told = (['status', 'plan', 'explain', 'doctor'] as const).map((name) => {
    const { code, text } = answers[name];
    const wanted = situation[name];
    if (wanted === undefined) return String(code);
    const found = masked(wanted.exec(text)?.[0] ?? NOT_TOLD);
    return `${code}: ${found.length > MOST ? `${found.slice(0, MOST).trimEnd()}…` : found}`;
  });
  // A replica refuses writes too, and the client connects anew after each refusal: a single scrape may miss that alert.
  const { alerts } = answers;
  const steady = alerts.includes('RedisNotPrimary')
    ? alerts.filter((name) => name !== 'RedisRefuses')
    : alerts;
  return [...told, steady.join(', ') || '–'];
}

async function tell(situation: Situation): Promise<void> {
  const place = await openPlace(situation);
  try {
    const ids = { ann: '' };
    if (situation.isWell !== false) {
      ids.ann = await place.idp.createUser(ANN);
      await place.idle();
      await run(place, 'reconcile', '--yes');
      await place.idle();
    }
    await situation.cause?.(place, ids);
    const { person = ANN } = situation;
    const asked = async () => cellsOf(situation, await ask(place, person));
    const first = await asked();
    // A sentence about a wait appears after some seconds of it, and a busy machine may miss them.
    cells.set(situation.name, first.some(isMissing) ? await asked() : first);
  } finally {
    await situation.after?.(place);
    await place.stop();
  }
}

const TOPICS = [...new Set(SITUATIONS.map(({ topic }) => topic))];
// The situations of a topic wait at the same time: for a breaker, a time limit, a heartbeat.
test.each(TOPICS)(
  'in each situation of docs/situations.md the commands print what the page says: %s',
  async (topic) => {
    const situations = SITUATIONS.filter((each) => each.topic === topic);
    await Promise.all(situations.map(tell));
    const told = situations.map(({ name }) => `${name}: ${cells.get(name)?.join(' | ')}`);
    expect(told.filter(isMissing)).toEqual([]);
  },
  180_000,
);

test('every alert of alerts.yaml is in one of two lists: checked by these situations, or not visible in one scrape', () => {
  const rules = readFileSync(join(import.meta.dirname, '../../helm/scim-bridge/files/alerts.yaml'), 'utf8');
  const names = [...rules.matchAll(/- alert: ScimBridge(\w+)/g)].map(([, name]) => name);
  expect([...TOLD, ...UNTOLD].sort()).toEqual(names.sort());
});

test('docs/situations.md contains the messages that the commands print', async () => {
  const tables = TOPICS.map((topic) => {
    const rows = SITUATIONS.filter((each) => each.topic === topic).map(
      ({ name }) => `| ${[name, ...(cells.get(name) ?? [])].join(' | ')} |`,
    );
    return [
      `## ${topic}`,
      '',
      '| Situation | status | plan | explain | doctor | alert |',
      '| --- | --- | --- | --- | --- | --- |',
      ...rows,
      '',
    ].join('\n');
  });
  const head = readFileSync(PAGE, 'utf8').split('\n## ')[0]?.trimEnd() ?? '';
  const text = [head, '', ...tables].join('\n');
  const page = await format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' });
  if (process.env.UPDATE_SITUATIONS) writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, 'utf8')).toBe(page);
});
