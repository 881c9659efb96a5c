// Builds the targets: one platform each, with its client, request budget and circuit breaker.
import type { Config } from '../config/schema.ts';
import { createBreaker } from '../directory/outbox/breaker.ts';
import { createBudget } from '../directory/outbox/budget.ts';
import { createRecentExternalIds } from '../directory/outbox/recent-external-ids.ts';
import type { PlatformCall } from '../platform/client.ts';
import { userResourceType, type CustomSchema, type ResourceType } from '../scim/index.ts';
import { createTarget, type Target } from '../sync/target.ts';
import { typedUserAttributes } from '../sync/typed-user-attributes.ts';
import type { Parts } from './parts.ts';

/** Returns the SCIM resource type of users, with the custom schemas and the attributes that these targets map. */
export const userTypeFor = (
  targets: Config['targets'][string][],
  schemas: readonly CustomSchema[],
): ResourceType => userResourceType({ userAttributes: typedUserAttributes(targets), schemas });

/** Returns the custom schemas of all connections that feed the target. */
export const schemasOfTarget = ({ connections }: Config, target: string): CustomSchema[] =>
  Object.values(connections).flatMap(({ targets, schemas }) => (targets.includes(target) ? schemas : []));

/** Returns the targets by name. Their platform clients connect at the first call. */
export function buildTargets(parts: Parts): Map<string, Target> {
  const { config, releasers } = parts;
  const targets = new Map<string, Target>();
  for (const settings of Object.values(config.targets)) {
    const { name, rateLimit } = settings;
    const { prefix } = config.redis;
    const breaker = createBreaker(parts, { prefix, target: name, keys: settings });
    const hooks = parts.instruments?.target(name);
    const budget = createBudget(
      { ...parts, onFailing: breaker.noteFailing, onWait: hooks?.onWait },
      { prefix, target: name, ...rateLimit },
    );
    const userType = userTypeFor([settings], schemasOfTarget(config, name));
    const onCall = (call: PlatformCall): void => {
      breaker.note(call);
      hooks?.onCall(call);
    };
    const recentExternalIds = createRecentExternalIds(parts, { prefix, target: name });
    const deps = { ...parts, budget, breaker, recentExternalIds, onCall };
    const target = createTarget(deps, settings, userType);
    releasers.add(`platform client of ${name}`, () => target.client.close());
    targets.set(name, target);
  }
  return targets;
}
