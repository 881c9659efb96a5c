// Tells the story: the first day, later changes in the company, and all pushes repeated.
import { systemClock } from '../support/sources.ts';
import { showAccess, type AccessFindings } from './access.ts';
import { createCompany, type Company, type Idp } from './company.ts';
import { createEntra } from './entra.ts';
import { reviews, STORY, type LifeEvent } from './life.ts';
import { createOkta } from './okta.ts';
import { pushAgain, pushChanges, pushEverything, type Providers } from './push.ts';
import type { Screen } from './screen.ts';
import type { DemoProcesses } from './processes.ts';
import { inMs, NotInTime, percentile, untilArrived } from './timing.ts';

export interface StoryResult {
  /** The company at the end; the platform must equal it. */
  company: Company;
  /** Milliseconds from push to applied, for each change after the first day. */
  lagsMs: number[];
  /** Number of platform calls that an identical push caused; undefined when the story ended earlier. */
  callsOfRepeat: number | undefined;
  /** Result of the part about access; undefined when the story ended earlier. */
  access: AccessFindings | undefined;
  /** Description of the change that was not applied in time; undefined when all were. */
  missing: string | undefined;
}

interface StoryContext {
  processes: DemoProcesses;
  screen: Screen;
  signal: AbortSignal;
  providers: Providers;
  result: StoryResult;
}

const FIRST_DAY_LIMIT_MS = 60_000;
/** Time limit for every later change. */
const LIMIT_MS = 15_000;
/** Wait after the repeated pushes; longer than the polling interval of the bridge, so that every call has started. */
const SETTLE_MS = 1500;
/** Interval at which the backlog of the bridge is read. */
const POLL_MS = 50;
const LAG_WIDTH = 8;
const TITLE_WIDTH = Math.max(...STORY.map(({ title }) => title.length)) + 2;

/** Runs the story. It also resolves when a change was not applied, so that both sides can be shown. */
export async function runStory(
  processes: DemoProcesses,
  screen: Screen,
  signal: AbortSignal,
): Promise<StoryResult> {
  const providers: Providers = {
    okta: createOkta(processes.clients.okta),
    entra: createEntra(processes.clients.entra),
  };
  const result: StoryResult = {
    company: createCompany(),
    lagsMs: [],
    callsOfRepeat: undefined,
    access: undefined,
    missing: undefined,
  };
  const context = { processes, screen, signal, providers, result };
  try {
    await pushFirstDay(context);
    await pushLifeEvents(context);
    result.access = await showAccess({
      processes,
      screen,
      signal,
      company: () => result.company,
      pushEvent: (event) => pushEvent(context, event),
    });
    await repeatPushes(context);
  } catch (error) {
    if (!(error instanceof NotInTime)) throw error;
    result.missing = error.message;
  }
  return result;
}

async function pushFirstDay(context: StoryContext): Promise<void> {
  const { processes, screen, signal, result } = context;
  const { people, groups } = result.company;
  screen.heading(`The first day: ${people.length} people and ${groups.length} groups`);
  const startedAtMs = Date.now();
  await Promise.all([pushCompany(context, 'okta', 'Okta'), pushCompany(context, 'entra', 'Entra')]);
  await screen.count(
    'Platform',
    people.length,
    (onProgress) =>
      untilArrived(processes.platform, result.company, startedAtMs, {
        what: 'the first push',
        limitMs: FIRST_DAY_LIMIT_MS,
        signal,
        onProgress,
      }),
    (lagMs) => `shows all of it ${(lagMs / 1000).toFixed(1)} s after the first request`,
  );
}

/** Pushes all users and groups of one provider and prints how long the requests took. */
async function pushCompany(
  { processes, screen, providers, result }: StoryContext,
  idp: Idp,
  name: string,
): Promise<void> {
  const startedAtMs = Date.now();
  await pushEverything(providers[idp], result.company, idp);
  const count = (items: readonly { idp: Idp }[]): number => items.filter((item) => item.idp === idp).length;
  const pushed = `pushed ${count(result.company.people)} people and ${count(result.company.groups)} groups`;
  const requests = processes.clients[idp].sent();
  screen.done(name, `${pushed}: ${requests} requests, answered in ${inMs(Date.now() - startedAtMs)}`);
}

async function pushLifeEvents(context: StoryContext): Promise<void> {
  const { screen, result } = context;
  screen.heading('Life goes on, and how long each change takes from the answer to the platform');
  for (const event of STORY) {
    const pushing = (): Promise<number> => pushEvent(context, event);
    await screen.step(event.title.padEnd(TITLE_WIDTH), pushing, (lagMs) => inMs(lagMs).padStart(LAG_WIDTH));
  }
  const events = reviews(result.company);
  const lagsMs: number[] = [];
  await screen.count(
    `Annual review: ${events.length} people, one change each (median)`.padEnd(TITLE_WIDTH),
    events.length,
    async (onProgress) => {
      for (const event of events) {
        lagsMs.push(await pushEvent(context, event));
        onProgress(lagsMs.length);
      }
    },
    () => inMs(percentile(lagsMs, 50)).padStart(LAG_WIDTH),
  );
}

/** Changes the company, pushes the change and waits until the platform has it. @returns the lag, milliseconds */
async function pushEvent(
  { processes, signal, providers, result }: StoryContext,
  event: LifeEvent,
): Promise<number> {
  const before = result.company;
  result.company = event.change(before);
  await pushChanges(providers, before, result.company, event.dialect);
  const limits = { what: event.title, limitMs: LIMIT_MS, signal };
  const lagMs = await untilArrived(processes.platform, result.company, Date.now(), limits);
  result.lagsMs.push(lagMs);
  return lagMs;
}

/** Pushes everything again without changes and counts the platform calls that this causes. */
async function repeatPushes(context: StoryContext): Promise<void> {
  const { processes, screen, signal, providers, result } = context;
  screen.heading('The same again');
  await untilIdle(context);
  const callsBefore = (await processes.platform.calls()).length;
  const sent = (): number => processes.clients.okta.sent() + processes.clients.entra.sent();
  const sentBefore = sent();
  result.callsOfRepeat = await screen.step(
    'Repeat',
    async () => {
      await pushAgain(providers, result.company);
      await systemClock.sleep(SETTLE_MS, signal);
      await untilIdle(context);
      return (await processes.platform.calls()).length - callsBefore;
    },
    (calls) => `everything pushed once more in ${sent() - sentBefore} requests: ${calls} platform calls`,
  );
}

/** Waits until the bridge has no pending changes. @throws NotInTime */
async function untilIdle({ processes, signal }: StoryContext): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  for (let left = await processes.backlog(); left > 0; left = await processes.backlog()) {
    if (Date.now() > deadline) throw new NotInTime(`${left} pending resources of the bridge`);
    await systemClock.sleep(POLL_MS, signal);
  }
}
