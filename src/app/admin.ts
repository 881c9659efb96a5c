// The operators' side of the service.
import { printableConfig } from '../config/redact.ts';
import { configWarnings } from '../config/warnings.ts';
import { checkStore, readStoreFacts } from '../directory/connection.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { createOperationStore } from '../directory/operations.ts';
import type { Admission } from '../http/admission/admission.ts';
import { createAdmin, type Admin } from '../http/admin/admin.ts';
import type { Target } from '../sync/target.ts';
import { buildEstates } from './estates.ts';
import type { Parts } from './parts.ts';

/** The operators' side; undefined when there is no token for it. */
export function buildAdmin(
  parts: Parts,
  targets: Map<string, Target>,
  states: DesiredState[],
  admission: Admission,
): Admin['router'] | undefined {
  const { clock, config, redis, releasers } = parts;
  const { adminToken, maxBodyBytes, trustedProxies } = config.server;
  if (adminToken === null) return undefined;
  const admin = createAdmin(
    {
      ...parts,
      states,
      estates: buildEstates(parts, targets, states),
      targets: [...targets.keys()],
      breakers: new Map([...targets].map(([name, { breaker }]) => [name, breaker])),
      addresses: config.targets,
      examine: async (signal) => {
        const { examine } = await import('../ops/examine.ts');
        const { durability } = config.redis;
        const store = {
          health: () => checkStore(redis, { durability }),
          facts: () => readStoreFacts(redis, () => clock.now()),
        };
        return examine(
          { store, clock },
          { durability, targets: Object.values(config.targets), warnings: configWarnings(config) },
          signal,
        );
      },
      tokensOf: (connection) => config.connections[connection]?.tokens ?? [],
      settings: () => printableConfig(config),
      store: createOperationStore({ redis }, { prefix: config.redis.prefix }),
    },
    {
      token: () => config.server.adminToken ?? adminToken,
      maxBodyBytes,
      trustedProxies,
      admitted: admission.of('admin'),
    },
  );
  releasers.add('admin operations', admin.stop);
  return admin.router;
}
