// Builds the compiler for attribute mappings that operators try before they put them into the settings.
import { checkAttributes } from '../config/check-attributes.ts';
import type { CompileTried } from '../ops/try-mapping.ts';
import { configChecks } from '../sync/config-checks.ts';
import { compileMapping } from '../sync/mapping.ts';
import type { Parts } from './parts.ts';
import { schemasOfTarget, userTypeFor } from './targets.ts';

/** Returns a function that checks and compiles a mapping for a target. It throws for an unknown target. */
export function buildCompileTried({ config }: Pick<Parts, 'config'>): CompileTried {
  return (target, given) => {
    const settings = config.targets[target];
    if (!settings) throw new Error(`there is no target ${target}`);
    const schemas = schemasOfTarget(config, target);
    const { attributes, faults } = checkAttributes(given, schemas, configChecks);
    return {
      attributes,
      faults,
      userType: userTypeFor([{ ...settings, attributes }], schemas),
      scope: compileMapping({ ...settings, attributes: {} }, userTypeFor([settings], schemas)),
    };
  };
}
