// Defines the object that all routes share: the stored state, settings, faults and clock.
import type { SandboxClock } from './clock.ts';
import type { CoreData } from './core-data/core-data.ts';
import type { Faults } from './faults.ts';
import type { RequestLog } from './requests.ts';
import type { SandboxSettings } from './settings.ts';
import type { CurrentState, State } from './state.ts';

export interface SandboxRuntime {
  /** A reset replaces the whole object, so read it from here at each use. */
  state: State;
  settings: SandboxSettings;
  /** Address of the platform listener, `http://host:port`; used in `meta.location`. */
  platformUrl: string;
  /** Base path of the data API on the platform's listener. */
  readonly dataPath: string;
  /** Called after every change of state, settings or clock; saves them (`--data`). */
  changed: () => void;
  /** Core Data: queries over the data model. */
  readonly coreData: CoreData;
  readonly clock: SandboxClock;
  readonly faults: Faults;
  readonly requests: RequestLog;
}

export function currentStateOf(runtime: SandboxRuntime): CurrentState {
  return { state: runtime.state, settings: runtime.settings, nowMs: runtime.clock.now() };
}
