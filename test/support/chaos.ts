// Provides the settings of a chaos test, and waits until the platform equals the company.
import type { ReadyLine } from '../../src/sandbox/ready.ts';
import { companyAttributes, type createCompany } from './company.ts';
import { createCommands } from './command.ts';
import { eventually } from './eventually.ts';
import type { PlatformView } from './platform-view.ts';

export const CHAOS_TOKEN = 'a-token-for-tests-only-0123456789';

/** Limit of the guard that holds nothing. */
const NO_LIMIT = { count: 1_000_000, percent: 100 };
const EQUAL_MS = 120_000;

/** Returns the settings of a bridge whose Redis keeps every acknowledged write. */
export function chaosSettings(redisUrl: string, { platformUrl, fixtures }: ReadyLine) {
  return {
    redis: { url: redisUrl, durability: 'always' },
    connections: { default: { tokens: [{ name: 'primary', secret: CHAOS_TOKEN }] } },
    targets: {
      main: {
        url: platformUrl,
        token: fixtures.apiKeys.admin,
        allowLoopbackHttp: true,
        timeoutMs: 1000,
        rateLimit: { requestsPerSecond: 1000, burst: 200 },
        attributes: companyAttributes,
        // Half of the users of this company leave and return within a minute.
        guard: { deactivate: NO_LIMIT, delete: NO_LIMIT, removeMembers: NO_LIMIT, clearAttributes: NO_LIMIT },
      },
    },
    logging: { level: 'info' },
  };
}

/** @throws Error with the differences and the last output of the processes when the platform does not become equal */
export async function untilEqual(
  company: ReturnType<typeof createCompany>,
  platform: PlatformView,
  output: () => string,
): Promise<void> {
  let last: string[] = [];
  await eventually(
    'the platform equals the company',
    async () => {
      last = await company.differences(platform);
      await new Promise((resolve) => setTimeout(resolve, 500));
      return last.length === 0;
    },
    EQUAL_MS,
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${last.join('\n')}\n${output().slice(-6000)}`);
  });
}

/** Returns the faults that `doctor --deep` finds in data that is derived from the records. */
export async function derivedFaults(settings: object): Promise<string[]> {
  const commands = createCommands(settings);
  const { json } = await commands.run('doctor', '--deep', '--json');
  commands.remove();
  return (json as { area: string; level: string; message: string }[])
    .filter(({ area, level }) => area === 'data default' && level !== 'ok')
    .map(({ message }) => message);
}
