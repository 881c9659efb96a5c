// The door of the sandbox: a faithful stand-in of the platform at wire level, for the demo, tests and the cli.
import type { Clock } from '../support/clock.ts';
import { createApplication } from './application.ts';
import { createSandboxClock } from './clock.ts';
import { createControl } from './control.ts';
import type { Family } from './family.ts';
import { createFaults } from './faults.ts';
import { listen } from './listener.ts';
import { createPlatformFamily } from './platform-family.ts';
import { toReadyLine, type Addresses, type ReadyLine } from './ready.ts';
import { createRequestLog } from './requests.ts';
import { createScimFamily } from './scim/family.ts';
import { createSecrets } from './secrets.ts';
import { plantSeed } from './seed.ts';
import { DEFAULT_SETTINGS } from './settings.ts';
import { createState } from './state.ts';
import { sceneOf, type World } from './world.ts';

export type { ReadyLine } from './ready.ts';

export interface SandboxOptions {
  /** Port of the platform; 0 or absent = a free one. */
  port?: number;
  /** Port of the control side; 0 or absent = a free one. */
  controlPort?: number;
  /** Loopback address of the platform, default 127.0.0.1: plain http never leaves the machine (contract 1.2). */
  host?: string;
  /** `small` (default) or `large:N`. */
  seed?: string;
  /** Faults from the start, and after a reset; the form of `PATCH /faults`. */
  faults?: object;
  /** Source of real time; `POST /clock` moves on from it. */
  clock?: Clock;
  /** Names of the vendor instead of those of the specification (contract 0.2). */
  vendorNames?: boolean;
}

export interface Sandbox {
  ready: ReadyLine;
  stop: () => Promise<void>;
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1']);

/** Families in order of their paths, the more special ones first; chat and core data join here. */
function createFamilies(world: World): Family[] {
  return [createScimFamily(world), createPlatformFamily(world)];
}

function createWorld(options: SandboxOptions): World {
  const clock = createSandboxClock(options.clock);
  const dataPath = options.vendorNames ? '/cubejs-api' : '/data-api';
  const faults = createFaults(options.faults);
  const journal = { now: () => clock.now(), isKept: () => faults.readsMayLag() };
  const parts = { clock, faults, requests: createRequestLog(), platformUrl: '', dataPath };
  return { ...parts, settings: DEFAULT_SETTINGS, state: createState(journal) };
}

/**
 * Starts the platform and its control port. Rejects when a port is taken, the host is not loopback, or the seed or
 * the faults are not understood.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const host = options.host ?? '127.0.0.1';
  if (!LOOPBACK.has(host)) throw new Error(`The sandbox serves plain http on loopback only, not on ${host}`);
  const world = createWorld(options);
  const secrets = createSecrets();
  const addresses = {
    platformUrl: '',
    controlUrl: '',
    dataPath: world.dataPath,
  };
  let seed = options.seed ?? 'small';

  /** Everything as after the start, but for the clock's base and the secrets. */
  function reset(wanted: string = seed): ReadyLine {
    const journal = { now: () => world.clock.now(), isKept: () => world.faults.readsMayLag() };
    const state = createState(journal);
    // On the clock as it will be; a seed that is not known throws here, before anything is lost.
    const nowMs = world.clock.now() - world.clock.offsetMs();
    plantSeed({ state, settings: DEFAULT_SETTINGS, nowMs }, wanted, secrets);
    seed = wanted;
    world.state = state;
    world.settings = DEFAULT_SETTINGS;
    world.clock.reset();
    world.faults.set(options.faults ?? {});
    world.requests.clear();
    return toReadyLine(sceneOf(world), addresses satisfies Addresses);
  }

  reset();
  const platform = await listen(createApplication(world, createFamilies(world)), host, options.port ?? 0);
  const control = await listen(
    createControl({ world, secrets, reset }),
    '127.0.0.1',
    options.controlPort ?? 0,
  ).catch(async (error: unknown) => {
    await platform.stop();
    throw error;
  });
  world.platformUrl = platform.url;
  addresses.platformUrl = platform.url;
  addresses.controlUrl = control.url;
  return {
    ready: toReadyLine(sceneOf(world), addresses),
    stop: async () => {
      await control.stop();
      await platform.stop();
    },
  };
}
