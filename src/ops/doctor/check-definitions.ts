// Compares the mapped attributes with the definitions of a target for doctor.
import type { PlatformClient } from '../../platform/client.ts';
import type { UserAttribute, UserAttributeType } from '../../platform/wire.ts';
import { UNMAPPED, unmappedAdvice } from '../../reconcile/tenant/applied-attributes.ts';
import { findingFor, type DoctorFinding } from './doctor-finding.ts';
import { adviceBeforeRights, replyOf, replyWords } from './reply.ts';

/** Types of the mapped attributes by name. */
export type MappedTypes = Record<string, UserAttributeType>;

/**
 * Compares the mapped attributes with the definitions at the platform.
 * @param options.applied names of the attributes of which the bridge has written values; undefined: not known
 * @param options.writtenIds as `writtenDefinitionIds` of DoctorTarget
 */
export async function checkDefinitions(
  target: string,
  client: PlatformClient,
  types: MappedTypes,
  {
    applied,
    writtenIds,
    ...options
  }: { signal: AbortSignal } & {
    applied: ReadonlySet<string> | undefined;
    writtenIds: ReadonlyMap<string, string>[];
  },
): Promise<DoctorFinding[]> {
  const { ok, warning, error } = findingFor(`target ${target}`);
  const listed = await replyOf(() => client.attributes.list(options));
  if (listed.kind !== 'answered')
    return [
      error(
        `attribute definitions cannot be read: ${replyWords(listed)}`,
        adviceBeforeRights(target, listed) ?? 'Use the key of an administrator.',
      ),
    ];
  // `wrong`: defined with another type than in the mapping. `missing`: mapped and not defined. `deleted`: those of
  // them of which the bridge has written values. `unused`: the others.
  const defined = new Set(listed.value.map(({ name }) => name));
  const wrong = listed.value.filter(({ name, type }) => Object.hasOwn(types, name) && types[name] !== type);
  const missing = Object.keys(types).filter((name) => !defined.has(name));
  const deleted = missing.filter((name) => applied?.has(name));
  const unused = missing.filter((name) => !applied?.has(name));
  // Defined under another id than the values were written under.
  const isRemade = ({ id, name }: UserAttribute): boolean =>
    writtenIds.some((ids) => ids.has(name) && ids.get(name) !== id);
  const remade = listed.value.filter((each) => types[each.name] === each.type && isRemade(each));
  return [
    ok('attribute definitions can be read'),
    ...wrong.map((each) =>
      error(
        `attribute ${each.name} is ${each.type} there and ${types[each.name]} in the mapping${isRemade(each) ? MADE_WITH_OTHER_TYPE : ''}`,
        'A type cannot be changed there: correct the mapping or use another name.',
      ),
    ),
    ...deleted.map((name) =>
      warning(
        `the definition of ${name} was deleted there, with all values`,
        'The next write of an attribute or a reconcile defines it again; scim-bridge reconcile writes the values of all people again.',
      ),
    ),
    ...remade.map(({ name }) =>
      warning(
        `the definition of ${name} was deleted there and made again, so values of people may be lost`,
        'scim-bridge reconcile looks at all people, and writes the values that are lost.',
      ),
    ),
    ...(unused.length > 0
      ? [ok(`${unused.join(', ')} will be defined at ${applied ? 'the first' : 'the next'} use`)]
      : []),
  ];
}

const MADE_WITH_OTHER_TYPE =
  ': the definition was deleted there with all values, and made again with this type';

/** Returns one warning for each attribute that has left the settings after the bridge wrote values of it. */
export const unmappedFindings = (
  target: string,
  types: MappedTypes,
  applied: ReadonlySet<string>,
): DoctorFinding[] =>
  [...applied]
    .filter((name) => types[name] === undefined)
    .sort()
    .map((name) =>
      findingFor(`target ${target}`).warning(`attribute ${name} ${UNMAPPED}`, unmappedAdvice(target, name)),
    );
