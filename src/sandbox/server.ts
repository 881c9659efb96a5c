// Starts the sandbox (`startSandbox`): a stand-in for the platform at wire level, for the demo, tests and the command line. Flow:
// creates the runtime (clock, faults, settings, state), fills the state from the data folder or with a seed, begins to save
// changes, and opens two ports: the platform, and the control API for tests.
import type { Express } from 'express';
import type { Clock } from '../support/sources.ts';
import { createCoreData } from './core-data/create-core-data.ts';
import type { CoreData } from './core-data/core-data.ts';
import { readModel } from './core-data/yaml/build-model.ts';
import { createCoreDataFamily } from './core-data/family.ts';
import { createApplication } from './application.ts';
import { certificateFor, type Certificate } from './certificate.ts';
import { createChatFamily } from './chat/family.ts';
import type { ChatModelOptions } from './chat/model-choice.ts';
import { createSandboxClock } from './clock.ts';
import { createControl } from './control.ts';
import type { ApiFamily } from './family.ts';
import { createFaults } from './faults.ts';
import { listenSandbox, type Listener } from './listener.ts';
import { openDataFolder } from './persistence/data-folder.ts';
import { keepSaved, restoreRuntime } from './persistence/keeper.ts';
import { createPlatformFamily } from './platform-family.ts';
import { toReadyLine, type ReadyLine } from './ready.ts';
import { createRequestLog } from './requests.ts';
import { createScimFamily } from './scim/family.ts';
import { createSecrets, type Secrets } from './secrets.ts';
import { plantSeed } from './seed.ts';
import { DEFAULT_SETTINGS } from './settings.ts';
import { specificationRoute } from './spec/document.ts';
import { createState, type State } from './state.ts';
import { currentStateOf, type SandboxRuntime } from './runtime.ts';

export type { ReadyLine } from './ready.ts';

export interface SandboxOptions {
  /** Port of the platform; 0 or absent = a free one. */
  port?: number;
  /** Port of the control API; 0 or absent = a free one. */
  controlPort?: number;
  /**
   * Address of the platform, default 127.0.0.1. Without TLS only loopback is allowed, because plain http must
   * not leave the machine (contract 1.2).
   */
  host?: string;
  /** `small` (default) or `large:N`. */
  seed?: string;
  /** Faults at the start and after a reset, in the form of `PATCH /faults`. */
  faults?: object;
  /** Source of real time; `POST /clock` adds an offset to it. */
  clock?: Clock;
  /**
   * Folder that stores the state over restarts; created when missing. The seed is used only while the folder holds no
   * state.
   */
  dataDir?: string;
  /** Folder with a data model as Cube's YAML, for every deployment; default: the models of the seed. */
  modelDir?: string;
  /** Serves the platform over TLS with the sandbox's own certificate. Without TLS only a loopback `host` is accepted. */
  tls?: boolean;
  /** Called with warnings for the operator, such as a state that cannot be saved. */
  warn?: (message: string) => void;
  /** Uses the names of the vendor instead of those of the specification (contract 0.2). */
  vendorNames?: boolean;
  /** Base path of the data API, such as `/x`; default `/data-api`, or the vendor's path with `vendorNames`. */
  dataPath?: string;
  /** Language model that selects the members of a chat query; without it a word match selects them. */
  chatModel?: ChatModelOptions;
}

export interface Sandbox {
  ready: ReadyLine;
  stop: () => Promise<void>;
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1']);

/**
 * Starts the platform and its control port. Rejects when a port is in use, the host is not loopback (without
 * TLS), the seed or the faults are invalid, or the data folder cannot be used.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const host = options.host ?? '127.0.0.1';
  if (!options.tls && !LOOPBACK.has(host))
    throw new Error(`The sandbox serves plain http on loopback only, not on ${host}; use TLS for others`);
  const runtime = createSandboxRuntime(options);
  const { folder, secrets, ...filled } = await fillRuntime(runtime, options);
  // A reset may name another seed.
  let { seed } = filled;
  const keeper =
    folder &&
    keepSaved(runtime, folder, { secrets, seed: () => seed, warn: options.warn ?? (() => undefined) });
  runtime.changed = () => keeper?.changed();
  // Without this call a new seed would be saved only after its first change.
  runtime.changed();

  const certificate = options.tls ? await certificateFor(host, folder) : undefined;
  const addresses = {
    // The two addresses are set below, when the listeners have started.
    platformUrl: '',
    controlUrl: '',
    dataPath: runtime.dataPath,
    certificate: certificate?.cert,
  };
  const readyLine = (): ReadyLine => toReadyLine(currentStateOf(runtime), addresses);
  const reset = (wanted: string = seed): ReadyLine => {
    resetRuntime(runtime, wanted, secrets, options.faults ?? {});
    seed = wanted;
    runtime.changed();
    return readyLine();
  };
  const applications = {
    platform: createApplication(runtime, createFamilies(runtime, options)),
    control: createControl({ runtime, secrets, reset }),
  };
  const { platform, control } = await openPorts(options, host, applications, certificate);
  runtime.platformUrl = platform.url;
  addresses.platformUrl = platform.url;
  addresses.controlUrl = control.url;
  return {
    ready: readyLine(),
    stop: async () => {
      runtime.state.runs.stopAll();
      await control.stop();
      await platform.stop();
      // Stops runs that started between the first stop and the close of the listener.
      runtime.state.runs.stopAll();
      await keeper?.stop();
      await runtime.coreData.stop();
    },
  };
}

/** Creates the runtime with an empty state, which `startSandbox` replaces by a seed or the stored state. */
function createSandboxRuntime(options: SandboxOptions): SandboxRuntime {
  const clock = createSandboxClock(options.clock);
  // The settings are read at each call, because a reset replaces the settings object.
  const coreData: CoreData = createCoreData({
    now: () => clock.now(),
    settings: () => runtime.settings,
    model: options.modelDir === undefined ? undefined : readModel(options.modelDir),
  });
  const runtime: Omit<SandboxRuntime, 'state'> = {
    clock,
    coreData,
    faults: createFaults(options.faults),
    requests: createRequestLog(),
    // `startSandbox` sets the address when the listener has started.
    platformUrl: '',
    dataPath: dataPathOf(options),
    settings: DEFAULT_SETTINGS,
    // `startSandbox` replaces this function after the first seed or restore, whose changes are saved as a whole.
    changed: () => undefined,
  };
  return Object.assign(runtime, { state: emptyState(runtime) });
}

/** Returns the base path of the data API. @throws Error for text that is not a path */
function dataPathOf({ dataPath, vendorNames }: SandboxOptions): string {
  const path = dataPath ?? (vendorNames ? '/cubejs-api' : '/data-api');
  if (!/^(\/[A-Za-z0-9_-]+)+$/.test(path)) throw new Error(`dataPath must look like /data-api, not ${path}`);
  return path;
}

/** Creates an empty state that uses the runtime's clock and reports its changes. */
function emptyState(runtime: Omit<SandboxRuntime, 'state'> & { state?: State }): State {
  const state = createState({
    now: () => runtime.clock.now(),
    // Changes are recorded while a fault asks for stale reads, but not those of a seed that still fills a new state.
    isKept: () => runtime.state === state && runtime.faults.readsMayLag(),
    changed: () => runtime.changed(),
  });
  return state;
}

/** Fills the runtime with the state that the data folder stores; without one, with the seed. */
async function fillRuntime(runtime: SandboxRuntime, options: SandboxOptions) {
  const folder = options.dataDir === undefined ? undefined : await openDataFolder(options.dataDir);
  const restored = folder && (await restoreRuntime(runtime, emptyState(runtime), folder));
  const secrets = createSecrets(restored?.secrets);
  const seed = restored?.seed ?? options.seed ?? 'small';
  if (!restored) resetRuntime(runtime, seed, secrets, options.faults ?? {});
  return { folder, secrets, seed };
}

/** Resets everything but the secrets to a seed. @throws SandboxProblem 400 for an unknown seed */
function resetRuntime(runtime: SandboxRuntime, seed: string, secrets: Secrets, faults: object): void {
  const state = emptyState(runtime);
  // The seed's time stamps need the time that the clock shows after its reset below. The seed comes first, because an unknown
  // name throws, and the old state must not be lost then.
  const nowMs = runtime.clock.now() - runtime.clock.offsetMs();
  plantSeed({ state, settings: DEFAULT_SETTINGS, nowMs }, seed, secrets);
  runtime.state.runs.stopAll();
  runtime.state = state;
  runtime.settings = DEFAULT_SETTINGS;
  runtime.clock.reset();
  runtime.faults.set(faults);
  runtime.requests.clear();
}

/** Returns the families. SCIM and chat come before the platform, whose `/api` matches their paths too. */
function createFamilies(runtime: SandboxRuntime, options: SandboxOptions): ApiFamily[] {
  const scim = createScimFamily(runtime);
  const platform: ApiFamily = createPlatformFamily(runtime, [specificationRoute(() => [scim, platform])]);
  return [scim, createChatFamily(runtime, options), platform, createCoreDataFamily(runtime)];
}

/** Starts both listeners; the first is stopped again when the second cannot start. */
async function openPorts(
  options: SandboxOptions,
  host: string,
  applications: { platform: Express; control: Express },
  certificate: Certificate | undefined,
): Promise<{ platform: Listener; control: Listener }> {
  const platform = await listenSandbox(applications.platform, host, options.port ?? 0, certificate);
  try {
    return {
      platform,
      control: await listenSandbox(applications.control, '127.0.0.1', options.controlPort ?? 0),
    };
  } catch (error) {
    await platform.stop();
    throw error;
  }
}
