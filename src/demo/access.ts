// Tells the part about access: which rows each user sees, how soon a change takes effect, and what happens when
// a user leaves during an answer.
import { createChat, QUESTION, type Chat, type OrdersByCountry } from './chat.ts';
import type { Company, Person } from './company.ts';
import { fullName } from './company.ts';
import { DEPARTURE, RELOCATION, type LifeEvent } from './life.ts';
import type { Screen } from './screen.ts';
import type { DemoProcesses } from './processes.ts';

export interface ShowAccessDeps {
  processes: DemoProcesses;
  screen: Screen;
  signal: AbortSignal;
  /** Returns the current company. */
  company: () => Company;
  /** Pushes a change and waits until the platform has it. */
  pushEvent: (event: LifeEvent) => Promise<unknown>;
}

/** Results: sentences about failed expectations, and the time from a push to a changed row. */
export interface AccessEnding {
  faults: string[];
  visibleMs: number | undefined;
}

/** The fields of `verify-access --json` that the demo shows. */
interface Verified {
  ok: boolean;
  chain: { stage: string; ok?: boolean; at?: string; afterMs?: number; detail: string }[];
  query: { kind: string; rows?: Record<string, string>[] } | null;
}

const ANALYSTS = ['Daniel Kim', 'Keiko Tanaka'];
const OUTSIDER = 'Carmen Ortega';
const MOVER = 'Luca Ferri';
const LEAVER = 'Hugo Martins';
const WIDTH = 60;
const VISIBLE_LIMIT_MS = 2000;
/** Pause between the records of the interrupted answer, long enough to deactivate the user in between. */
const SLOW_MS = 400;
const QUERY = JSON.stringify({ measures: ['orders.count'], dimensions: ['orders.country'] });

export async function showAccess(deps: ShowAccessDeps): Promise<AccessEnding> {
  const { screen, processes, signal } = deps;
  const ending: AccessEnding = { faults: [], visibleMs: undefined };
  const chat = createChat(processes.sandbox, signal);
  screen.heading(`Access: every user asks "${QUESTION}"`);
  try {
    await askAnalysts(deps, chat, ending);
    await askOutsider(deps, chat, ending);
    await relocate(deps, chat, ending);
    await leaveInMidAnswer(deps, chat, ending);
  } finally {
    await chat.close();
  }
  return ending;
}

/**
 * Queries the data as two users of one group with different attributes, through chat and through verify-access.
 */
async function askAnalysts(deps: ShowAccessDeps, chat: Chat, ending: AccessEnding): Promise<void> {
  const { screen } = deps;
  let last: Verified | undefined;
  for (const name of ANALYSTS) {
    const person = personOf(deps.company(), name);
    const told = `${name}, analyst, ${person.country}`.padEnd(WIDTH);
    await screen.step(
      told,
      async () => {
        const [verified, inChat] = await Promise.all([
          verify(deps.processes, person),
          chat.ask(person.userName),
        ]);
        const inQuery = toCounts(verified);
        last = verified;
        if (!verified.ok) ending.faults.push(`verify-access of ${name} misses a link`);
        if (!seesOnly(inQuery, person.country))
          ending.faults.push(`${name} sees ${tell(inQuery)} in Core Data`);
        if (!seesOnly(inChat, person.country)) ending.faults.push(`${name} sees ${tell(inChat)} in chat`);
        return { inQuery, inChat };
      },
      ({ inQuery, inChat }) => `Core Data ${tell(inQuery)}   chat ${tell(inChat)}`,
    );
  }
  screen.line(`    output of verify-access for ${ANALYSTS.at(-1) ?? ''}:`);
  for (const { stage, ok, at, afterMs = 0, detail } of last?.chain ?? [])
    screen.line(
      `      ${ok ? '✔' : '✘'} ${stage.padEnd(8)} ${at ?? ''}  ${detail}${afterMs > 0 ? ` (${afterMs} ms later)` : ''}`,
    );
}

async function askOutsider(
  { screen, company }: ShowAccessDeps,
  chat: Chat,
  ending: AccessEnding,
): Promise<void> {
  const { userName } = personOf(company(), OUTSIDER);
  await screen.step(
    `${OUTSIDER}, store manager, no analyst`.padEnd(WIDTH),
    async () => {
      const seen = await chat.ask(userName);
      if (Object.keys(seen).length > 0)
        ending.faults.push(`${OUTSIDER} sees ${tell(seen)} without being an analyst`);
      return seen;
    },
    (seen) => `chat ${tell(seen)}`,
  );
}

/** Measures the time from a push until the same question has another answer. */
async function relocate(deps: ShowAccessDeps, chat: Chat, ending: AccessEnding): Promise<void> {
  const { userName } = personOf(deps.company(), MOVER);
  await deps.screen.step(
    RELOCATION.title.padEnd(WIDTH),
    async () => {
      const before = await chat.ask(userName);
      const startedMs = Date.now();
      await deps.pushEvent(RELOCATION);
      const after = await chat.ask(userName);
      ending.visibleMs = Date.now() - startedMs;
      const { country } = personOf(deps.company(), MOVER);
      if (!seesOnly(after, country))
        ending.faults.push(`${MOVER} sees ${tell(after)} after moving to ${country}`);
      if (ending.visibleMs > VISIBLE_LIMIT_MS)
        ending.faults.push('a pushed value took too long to show in rows');
      return { before, after };
    },
    ({ before, after }) => `chat ${tell(before)} → ${tell(after)}   push to row ${ending.visibleMs} ms`,
  );
}

/** Checks that the running answer stops and the next question is refused. */
async function leaveInMidAnswer(deps: ShowAccessDeps, chat: Chat, ending: AccessEnding): Promise<void> {
  const { userName } = personOf(deps.company(), LEAVER);
  const { platform } = deps.processes;
  await deps.screen.step(
    DEPARTURE.title.padEnd(WIDTH),
    async () => {
      await platform.paceChat(SLOW_MS);
      let begin = (): void => undefined;
      const begun = new Promise<void>((resolve) => (begin = resolve));
      const answer = chat
        .ask(userName, ({ role }) => void (role === 'assistant' && begin()))
        .then(() => ending.faults.push(`${LEAVER} got a whole answer after leaving`))
        .catch((error: unknown) => {
          if (wordsOf(error).includes('no longer has access')) return;
          throw error;
        });
      await Promise.race([begun, answer]);
      await deps.pushEvent(DEPARTURE);
      await answer;
      await platform.paceChat(0);
      const refusal = await chat.ask(userName).then(() => undefined, wordsOf);
      if (refusal === undefined) ending.faults.push(`${LEAVER} may still ask after leaving`);
      return refusal;
    },
    (refusal) => `answer cut off; asked again: ${refusal ?? 'answered'}`,
  );
}

async function verify({ bridge, sandbox }: DemoProcesses, { userName }: Person): Promise<Verified> {
  const args = ['verify-access', userName, '--deployment', 'sales', '--query', QUERY, '--json'];
  const env = { DEPLOYMENT_API_SECRET: sandbox.fixtures.deployments[0]?.apiSecret ?? '' };
  return JSON.parse(await bridge.command(args, env)) as Verified;
}

const toCounts = ({ query }: Verified): OrdersByCountry =>
  Object.fromEntries(
    (query?.rows ?? []).map((row) => [row['orders.country'] ?? '', Number(row['orders.count'])]),
  );

const seesOnly = (counts: OrdersByCountry, country: string): boolean =>
  Object.keys(counts).join() === country && (counts[country] ?? 0) > 0;

const tell = (counts: OrdersByCountry): string =>
  Object.entries(counts)
    .map(([country, count]) => `${country} ${count}`)
    .join(', ') || 'nothing';

function personOf({ people }: Company, name: string): Person {
  const found = people.find((person) => fullName(person) === name);
  if (!found) throw new Error(`The company has no ${name}.`);
  return found;
}

/** Returns the platform's message of a PlatformError, else the error's own message. */
function wordsOf(error: unknown): string {
  if (error instanceof Error && 'platformMessage' in error) return String(error.platformMessage);
  return error instanceof Error ? error.message : String(error);
}
