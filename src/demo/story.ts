// Tells the story: the first day, later changes in the company, and all pushes repeated.
import { systemClock } from '../support/sources.ts';
import { showAccess, type AccessEnding } from './access-act.ts';
import { createCompany, type Company, type Idp } from './company.ts';
import { createEntra, createOkta } from './idp.ts';
import { reviews, STORY, type LifeEvent } from './life.ts';
import { pushAgain, pushChanges, pushEverything, type Cast } from './push.ts';
import type { Screen } from './screen.ts';
import type { DemoProcesses } from './stage.ts';
import { inMs, NotInTime, percentile, untilArrived } from './timing.ts';

export interface Ending {
  /** The company at the end; the platform must equal it. */
  company: Company;
  /** Milliseconds from push to applied, for each change after the first day. */
  lagsMs: number[];
  /** Number of platform calls that an identical push caused; undefined when the story ended earlier. */
  callsOfRepeat: number | undefined;
  /** Result of the part about access; undefined when the story ended earlier. */
  access: AccessEnding | undefined;
  /** Description of the change that was not applied in time; undefined when all were. */
  missing: string | undefined;
}

interface Telling {
  stage: DemoProcesses;
  screen: Screen;
  signal: AbortSignal;
  cast: Cast;
  ending: Ending;
}

const FIRST_DAY_LIMIT_MS = 60_000;
const LIMIT_MS = 15_000;
/** Longer than the polling interval of the bridge, so that any caused call would have started. */
const SILENCE_MS = 1500;
const LAG_WIDTH = 8;
const TITLE_WIDTH = Math.max(...STORY.map(({ title }) => title.length)) + 2;

/** Runs the story. It also resolves when a change was not applied, so that both sides can be shown. */
export async function runStory(stage: DemoProcesses, screen: Screen, signal: AbortSignal): Promise<Ending> {
  const cast: Cast = { okta: createOkta(stage.lines.okta), entra: createEntra(stage.lines.entra) };
  const ending: Ending = {
    company: createCompany(),
    lagsMs: [],
    callsOfRepeat: undefined,
    access: undefined,
    missing: undefined,
  };
  const telling = { stage, screen, signal, cast, ending };
  try {
    await tellFirstDay(telling);
    await tellLife(telling);
    ending.access = await showAccess({
      ...{ stage, screen, signal, company: () => ending.company },
      happen: (event) => happen(telling, event),
    });
    await tellAgain(telling);
  } catch (error) {
    if (!(error instanceof NotInTime)) throw error;
    ending.missing = error.message;
  }
  return ending;
}

async function tellFirstDay(telling: Telling): Promise<void> {
  const { stage, screen, signal, ending } = telling;
  const { people, groups } = ending.company;
  screen.heading(`The first day: ${people.length} people and ${groups.length} groups`);
  const startedAtMs = Date.now();
  await Promise.all([arrive(telling, 'okta', 'Okta'), arrive(telling, 'entra', 'Entra')]);
  await screen.count(
    'Platform',
    people.length,
    (onProgress) =>
      untilArrived(stage.platform, ending.company, startedAtMs, {
        ...{ what: 'the first push', limitMs: FIRST_DAY_LIMIT_MS, signal, onProgress },
      }),
    (lagMs) => `shows all of it ${(lagMs / 1000).toFixed(1)} s after the first request`,
  );
}

async function arrive({ stage, screen, cast, ending }: Telling, idp: Idp, name: string): Promise<void> {
  const startedAtMs = Date.now();
  await pushEverything(cast[idp], ending.company, idp);
  const count = (all: readonly { idp: Idp }[]): number => all.filter((each) => each.idp === idp).length;
  const pushed = `pushed ${count(ending.company.people)} people and ${count(ending.company.groups)} groups`;
  const requests = stage.lines[idp].sent();
  screen.done(name, `${pushed}: ${requests} requests, answered in ${inMs(Date.now() - startedAtMs)}`);
}

async function tellLife(telling: Telling): Promise<void> {
  const { screen, ending } = telling;
  screen.heading('Life goes on, and how long each change takes from the answer to the platform');
  for (const event of STORY) {
    const happening = (): Promise<number> => happen(telling, event);
    await screen.step(event.title.padEnd(TITLE_WIDTH), happening, (lagMs) => inMs(lagMs).padStart(LAG_WIDTH));
  }
  const round = reviews(ending.company);
  const lagsMs: number[] = [];
  await screen.count(
    `Annual review: ${round.length} people, one change each (median)`.padEnd(TITLE_WIDTH),
    round.length,
    async (onProgress) => {
      for (const event of round) onProgress(lagsMs.push(await happen(telling, event)));
    },
    () => inMs(percentile(lagsMs, 50)).padStart(LAG_WIDTH),
  );
}

async function happen({ stage, signal, cast, ending }: Telling, event: LifeEvent): Promise<number> {
  const before = ending.company;
  ending.company = event.change(before);
  await pushChanges(cast, before, ending.company, event.dialect);
  const limits = { what: event.title, limitMs: LIMIT_MS, signal };
  const lagMs = await untilArrived(stage.platform, ending.company, Date.now(), limits);
  ending.lagsMs.push(lagMs);
  return lagMs;
}

async function tellAgain(telling: Telling): Promise<void> {
  const { stage, screen, signal, cast, ending } = telling;
  screen.heading('The same again');
  await untilIdle(telling);
  const callsBefore = (await stage.platform.calls()).length;
  const sent = (): number => stage.lines.okta.sent() + stage.lines.entra.sent();
  const sentBefore = sent();
  ending.callsOfRepeat = await screen.step(
    'Repeat',
    async () => {
      await pushAgain(cast, ending.company);
      await systemClock.sleep(SILENCE_MS, signal);
      await untilIdle(telling);
      return (await stage.platform.calls()).length - callsBefore;
    },
    (calls) => `everything pushed once more in ${sent() - sentBefore} requests: ${calls} platform calls`,
  );
}

async function untilIdle({ stage, signal }: Telling): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  for (let left = await stage.backlog(); left > 0; left = await stage.backlog()) {
    if (Date.now() > deadline) throw new NotInTime(`${left} pending resources of the bridge`);
    await systemClock.sleep(50, signal);
  }
}
