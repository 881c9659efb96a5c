// Restores the state from the data folder and saves changes to it.
import type { Secrets } from '../secrets.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import type { State } from '../state.ts';
import type { SandboxRuntime } from '../runtime.ts';
import type { DataFolder } from './data-folder.ts';
import { readSnapshot, snapshotPieces, type Surroundings } from './snapshot.ts';
import { createWriteBehind, type WriteBehind } from './write-behind.ts';

/**
 * Restores the snapshot: fills the empty `state`, and gives state, settings and clock offset to the runtime. Returns the values
 * beside the state; undefined without a snapshot. Throws for a damaged snapshot.
 */
export async function restoreRuntime(
  runtime: SandboxRuntime,
  state: State,
  folder: DataFolder,
): Promise<Surroundings | undefined> {
  const lines = folder.lines();
  if (!lines) return undefined;
  const surroundings = await readSnapshot(lines, state).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The state in ${folder.path} cannot be used: ${reason}. Move it away to start anew.`, {
      cause,
    });
  });
  runtime.state = state;
  // A setting that the snapshot does not contain keeps its default.
  runtime.settings = { ...DEFAULT_SETTINGS, ...surroundings.settings };
  runtime.clock.advance(surroundings.clockOffsetMs);
  return surroundings;
}

/**
 * Returns the writer (write-behind.ts) that saves the state after changes, and unsaved changes when it is stopped.
 * @param more.seed name of the seed, which a reset may change
 */
export function keepSaved(
  runtime: SandboxRuntime,
  folder: DataFolder,
  more: { readonly secrets: Secrets; readonly seed: () => string; readonly warn: (message: string) => void },
): WriteBehind {
  const save = (): Promise<void> =>
    folder.replace(
      snapshotPieces(runtime.state, {
        seed: more.seed(),
        settings: runtime.settings,
        clockOffsetMs: runtime.clock.offsetMs(),
        secrets: more.secrets.all(),
      }),
    );
  return createWriteBehind(save, (error) =>
    more.warn(`The state could not be saved: ${error instanceof Error ? error.message : String(error)}`),
  );
}
