// Shows and checks access to data: which rows each user sees, how soon a change takes effect, and that the
// running answer of a user who leaves is cut off.
import { createChat, QUESTION, type Chat, type OrdersByCountry } from './chat.ts';
import { type Company, type Person, fullName } from './company.ts';
import { DEPARTURE, RELOCATION, type LifeEvent } from './life.ts';
import type { Screen } from './screen.ts';
import type { DemoProcesses } from './processes.ts';

interface ShowAccessDeps {
  processes: DemoProcesses;
  screen: Screen;
  signal: AbortSignal;
  /** Returns the current company. */
  company: () => Company;
  /** Pushes a change and waits until the platform has it. */
  pushEvent: (event: LifeEvent) => Promise<unknown>;
}

export interface AccessFindings {
  /** One sentence for each failed expectation. */
  faults: string[];
  /** Time from a push until the user sees other rows; undefined when the demo ended earlier. */
  visibleMs: number | undefined;
}

/** The fields of `verify-access --json` that the demo shows. */
interface Verified {
  /** Whether every stage on the way from the push to the data was reached. */
  ok: boolean;
  /** The stages, with `afterMs`: milliseconds since the stage before. */
  chain: { stage: string; ok?: boolean; at?: string; afterMs?: number; detail: string }[];
  query: { kind: string; rows?: Record<string, string>[] } | null;
}

const ANALYSTS = ['Daniel Kim', 'Keiko Tanaka'];
const OUTSIDER = 'Carmen Ortega';
const MOVER = 'Luca Ferri';
const LEAVER = 'Hugo Martins';
/** Width of the column of sentences. */
const WIDTH = 60;
/** A changed row must be visible within this time after the push. */
const VISIBLE_LIMIT_MS = 2000;
/** Pause between the records of the interrupted answer, long enough to deactivate the user in between. */
const SLOW_MS = 400;
const QUERY = JSON.stringify({ measures: ['orders.count'], dimensions: ['orders.country'] });
/** Name of the deployment in the sandbox that has the orders. */
const DEPLOYMENT = 'sales';
/** Part of the message by which the platform refuses a user whose account was closed. */
const REFUSED_TEXT = 'no longer has access';

/** Runs all four checks. Failed expectations are returned, not thrown. */
export async function showAccess(deps: ShowAccessDeps): Promise<AccessFindings> {
  const { screen, processes, signal } = deps;
  const findings: AccessFindings = { faults: [], visibleMs: undefined };
  const chat = createChat(processes.sandbox, signal);
  screen.heading(`Access: every user asks "${QUESTION}"`);
  try {
    await askAnalysts(deps, chat, findings);
    await askOutsider(deps, chat, findings);
    await relocate(deps, chat, findings);
    await leaveInMidAnswer(deps, chat, findings);
  } finally {
    await chat.close();
  }
  return findings;
}

/** Queries the data as two users of one group with different attributes, through chat and through verify-access. */
async function askAnalysts(deps: ShowAccessDeps, chat: Chat, findings: AccessFindings): Promise<void> {
  const { screen } = deps;
  let lastVerified: Verified | undefined;
  for (const name of ANALYSTS) {
    const person = personOf(deps.company(), name);
    await screen.step(
      `${name}, analyst, ${person.country}`.padEnd(WIDTH),
      async () => {
        const [verified, inChat] = await Promise.all([
          verify(deps.processes, person),
          chat.ask(person.userName),
        ]);
        const inQuery = toCounts(verified);
        lastVerified = verified;
        if (!verified.ok) findings.faults.push(`verify-access of ${name} misses a link`);
        if (!seesOnly(inQuery, person.country))
          findings.faults.push(`${name} sees ${countsText(inQuery)} in Core Data`);
        if (!seesOnly(inChat, person.country))
          findings.faults.push(`${name} sees ${countsText(inChat)} in chat`);
        return { inQuery, inChat };
      },
      ({ inQuery, inChat }) => `Core Data ${countsText(inQuery)}   chat ${countsText(inChat)}`,
    );
  }
  screen.line(`    output of verify-access for ${ANALYSTS.at(-1) ?? ''}:`);
  for (const { stage, ok, at, afterMs = 0, detail } of lastVerified?.chain ?? [])
    screen.line(
      `      ${ok ? '✔' : '✘'} ${stage.padEnd(8)} ${at ?? ''}  ${detail}${afterMs > 0 ? ` (${afterMs} ms later)` : ''}`,
    );
}

/** Checks that a user who is not in the group of analysts sees no rows in chat. */
async function askOutsider(
  { screen, company }: ShowAccessDeps,
  chat: Chat,
  findings: AccessFindings,
): Promise<void> {
  const { userName } = personOf(company(), OUTSIDER);
  await screen.step(
    `${OUTSIDER}, store manager, no analyst`.padEnd(WIDTH),
    async () => {
      const seen = await chat.ask(userName);
      if (Object.keys(seen).length > 0)
        findings.faults.push(`${OUTSIDER} sees ${countsText(seen)} without being an analyst`);
      return seen;
    },
    (seen) => `chat ${countsText(seen)}`,
  );
}

/** Moves a user to another country and measures the time from the push to the new answer. */
async function relocate(deps: ShowAccessDeps, chat: Chat, findings: AccessFindings): Promise<void> {
  const { userName } = personOf(deps.company(), MOVER);
  await deps.screen.step(
    RELOCATION.title.padEnd(WIDTH),
    async () => {
      const before = await chat.ask(userName);
      const startedMs = Date.now();
      await deps.pushEvent(RELOCATION);
      const after = await chat.ask(userName);
      findings.visibleMs = Date.now() - startedMs;
      const { country } = personOf(deps.company(), MOVER);
      if (!seesOnly(after, country))
        findings.faults.push(`${MOVER} sees ${countsText(after)} after moving to ${country}`);
      if (findings.visibleMs > VISIBLE_LIMIT_MS)
        findings.faults.push('a pushed value took too long to show in rows');
      return { before, after };
    },
    ({ before, after }) =>
      `chat ${countsText(before)} → ${countsText(after)}   push to row ${findings.visibleMs} ms`,
  );
}

/** Deactivates a user during an answer; checks that the answer stops and the next question is refused. */
async function leaveInMidAnswer(deps: ShowAccessDeps, chat: Chat, findings: AccessFindings): Promise<void> {
  const { userName } = personOf(deps.company(), LEAVER);
  const { platform } = deps.processes;
  await deps.screen.step(
    DEPARTURE.title.padEnd(WIDTH),
    async () => {
      await platform.paceChat(SLOW_MS);
      // Resolves when the answer has begun.
      let reportBegin = (): void => undefined;
      const begun = new Promise<void>((resolve) => {
        reportBegin = resolve;
      });
      const answer = chat
        .ask(userName, ({ role }) => {
          // The first record of the assistant begins the answer.
          if (role === 'assistant') reportBegin();
        })
        .then(() => findings.faults.push(`${LEAVER} got a whole answer after leaving`))
        .catch((error: unknown) => {
          if (messageOf(error).includes(REFUSED_TEXT)) return;
          throw error;
        });
      await Promise.race([begun, answer]);
      await deps.pushEvent(DEPARTURE);
      await answer;
      // Ends the pauses of `paceChat(SLOW_MS)`.
      await platform.paceChat(0);
      const refusal = await chat.ask(userName).then(() => undefined, messageOf);
      if (refusal === undefined) findings.faults.push(`${LEAVER} may still ask after leaving`);
      return refusal;
    },
    (refusal) => `answer cut off; asked again: ${refusal ?? 'answered'}`,
  );
}

/** Runs the command verify-access of the bridge for a user. */
async function verify({ bridge, sandbox }: DemoProcesses, { userName }: Person): Promise<Verified> {
  const args = ['verify-access', userName, '--deployment', DEPLOYMENT, '--query', QUERY, '--json'];
  // The first deployment of the sandbox is DEPLOYMENT, so `''` only satisfies the type.
  const env = { DEPLOYMENT_API_SECRET: sandbox.fixtures.deployments[0]?.apiSecret ?? '' };
  return JSON.parse(await bridge.command(args, env)) as Verified;
}

const toCounts = ({ query }: Verified): OrdersByCountry =>
  Object.fromEntries(
    (query?.rows ?? []).map((row) => [row['orders.country'] ?? '', Number(row['orders.count'])]),
  );

const seesOnly = (counts: OrdersByCountry, country: string): boolean =>
  Object.keys(counts).join() === country && (counts[country] ?? 0) > 0;

/** Returns counts as text: `PT 12, ES 3`, or `nothing`. */
const countsText = (counts: OrdersByCountry): string =>
  Object.entries(counts)
    .map(([country, count]) => `${country} ${count}`)
    .join(', ') || 'nothing';

function personOf({ people }: Company, name: string): Person {
  const found = people.find((person) => fullName(person) === name);
  if (!found) throw new Error(`The company has no ${name}.`);
  return found;
}

/** Returns the platform's message of a PlatformError, else the error's own message. */
function messageOf(error: unknown): string {
  if (error instanceof Error && 'platformMessage' in error) return String(error.platformMessage);
  return error instanceof Error ? error.message : String(error);
}
