// Checks an attribute mapping that an operator tries for one target in the admin API, with the same checks as the settings file.
import { checkMeaning, type ConfigChecks } from './checks.ts';
import { toAttributeConfig } from './derive.ts';
import { firstPerPath, type ConfigFault } from './faults.ts';
import { select } from './places.ts';
import type { AttributeConfig, AttributeSettings } from './schema/attributes.ts';
import { validateSchema } from './validate.ts';

interface CheckedAttributes {
  /** The attributes without a fault, with defaults. */
  attributes: Record<string, AttributeConfig>;
  /** Paths are relative to the attributes, such as `/region/from`; `/` is the mapping itself. */
  faults: ConfigFault[];
}

/** Path of the mapping in a settings document that is made for the check, with one target, named `tried`. */
const AT = '/targets/tried/attributes';

/**
 * Checks the attribute mapping of one target without the rest of the settings.
 * @param schemas custom schemas of the connections of the target
 */
export function checkAttributes(
  attributes: unknown,
  schemas: readonly object[],
  checks: ConfigChecks,
): CheckedAttributes {
  const document = {
    connections: { tried: { targets: ['tried'], schemas } },
    targets: { tried: { attributes: structuredClone(attributes) } },
  };
  // The empty set: no text of this document was a reference such as `${NAME}`.
  const faults = firstPerPath([...validateSchema(document, new Set()), ...checkMeaning(document, checks)])
    .filter(({ path }) => path === AT || path.startsWith(`${AT}/`))
    .map(({ path, message }) => ({ path: path.slice(AT.length) || '/', message }));
  const isSound = (at: string): boolean =>
    faults.every(({ path }) => path !== '/' && path !== at && !path.startsWith(`${at}/`));
  const sound = select(document, 'targets/tried/attributes/*').filter(({ path }) =>
    isSound(path.slice(AT.length)),
  );
  return {
    faults,
    // `fromEntries` defines own properties, so a name such as `__proto__` does no harm.
    attributes: Object.fromEntries(
      sound.map(({ keys, value }) => [keys.at(-1) ?? '', toAttributeConfig(value as AttributeSettings)]),
    ),
  };
}
