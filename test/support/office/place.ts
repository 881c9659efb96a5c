// Opens a place whose bridge is a process that can be killed, and whose identity provider repeats pushes without an answer.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBridgeProcess } from '../bridge-process.ts';
import { TOKEN } from '../build-bridge.ts';
import { createIdp, type Idp } from '../idp.ts';
import { openPlace, type Place, type PlaceOptions } from '../situation.ts';

export interface OfficePlace extends Place {
  /** Kills the bridge with kill -9 and starts it again. */
  kill(): Promise<void>;
}

const REPEAT_MS = 50;
/** A start may need this long on a busy machine. */
const REPEATS = 800;

export async function openOfficePlace(options: PlaceOptions): Promise<OfficePlace> {
  const place = await openPlace({ ...options, roles: [] });
  const file = join(place.commands.folder, 'bridge.json');
  const bridge = await startBridgeProcess(place.settings);
  return {
    ...place,
    idp: createPatientIdp(createIdp(bridge.baseUrl, TOKEN)),
    change: async (edit) => {
      const changed = JSON.parse(readFileSync(file, 'utf8'));
      edit(changed);
      writeFileSync(file, JSON.stringify(changed));
      await bridge.restartWith(changed);
    },
    kill: () => bridge.killAndRestart(),
    stop: async () => {
      await bridge.stop();
      await place.stop();
    },
  };
}

/** Repeats a push until it is answered, as identity providers do. */
function createPatientIdp(idp: Idp): Idp {
  return {
    ...idp,
    send: async (...push) => {
      for (let repeat = 0; ; repeat++) {
        const answer = await idp.send(...push).catch((error: unknown) => {
          if (repeat > REPEATS) throw error;
        });
        if (answer && answer.status !== 503) return answer;
        await sleep(REPEAT_MS);
      }
    },
  };
}
