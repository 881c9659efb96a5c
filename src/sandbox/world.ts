// The one object that all rooms share: the stored state and the switches around it.
import type { SandboxClock } from './clock.ts';
import type { CoreData } from './core-data/core-data.ts';
import type { Faults } from './faults.ts';
import type { RequestLog } from './requests.ts';
import type { Settings } from './settings.ts';
import type { Scene, State } from './state.ts';

export interface World {
  /** Replaced as a whole by a reset. */
  state: State;
  settings: Settings;
  /** Address of the platform listener, `http://host:port`; used in `meta.location`. */
  platformUrl: string;
  /** Base path of the data API on the platform's listener. */
  readonly dataPath: string;
  /** To be called after a change that no table has seen and no request has made; it is saved soon (`--data`). */
  changed: () => void;
  /** The data behind the model. */
  readonly coreData: CoreData;
  readonly clock: SandboxClock;
  readonly faults: Faults;
  readonly requests: RequestLog;
}

export function sceneOf(world: World): Scene {
  return { state: world.state, settings: world.settings, nowMs: world.clock.now() };
}
