// Compares the mapped attributes with the definitions of a target for doctor.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { PlatformClient } from '../../platform/client.ts';
import type { UserAttribute } from '../../platform/wire.ts';
import { appliedAttributes, UNMAPPED, unmappedAdvice } from '../../reconcile/tenant/applied-attributes.ts';
import type { TargetSettings } from '../../sync/target.ts';
import { findingFor, type DoctorFinding } from './doctor-finding.ts';
import { adviceBeforeRights, replyOf, replyWords } from './reply.ts';

/** The connections, whose links and outboxes tell what the bridge has written at a target. */
export type WriterStates = readonly Pick<DesiredState, 'links' | 'outboxes' | 'whyUnrecognised'>[];

/**
 * Compares the mapped attributes with the definitions at the platform. An attribute that has left the settings after the bridge
 * wrote values of it gets a warning too.
 */
export async function checkDefinitions(
  { name: target, attributes }: TargetSettings,
  client: PlatformClient,
  states: WriterStates,
  options: { signal: AbortSignal },
): Promise<DoctorFinding[]> {
  const { ok, warning, error } = findingFor(`target ${target}`);
  const feeding = states.filter(({ outboxes }) => outboxes.has(target));
  // Undefined, and no ids: Redis did not tell, or the target may be another tenant than the one that the values were written to, so
  // nothing is claimed about values that the bridge has written.
  const isKnown = await isRecognised(feeding, target).catch(() => false);
  const applied = isKnown ? await appliedBy(feeding, target).catch(() => undefined) : undefined;
  const writtenIds = isKnown ? await writtenIdsOf(feeding, target).catch(() => []) : [];
  const unmapped = [...(applied ?? [])]
    .filter((name) => attributes[name] === undefined)
    .sort()
    .map((name) => warning(`attribute ${name} ${UNMAPPED}`, unmappedAdvice(target, name)));
  const listed = await replyOf(() => client.attributes.list(options));
  if (listed.kind !== 'answered')
    return [
      ...unmapped,
      error(
        `attribute definitions cannot be read: ${replyWords(listed)}`,
        adviceBeforeRights(target, listed) ?? 'Use the key of an administrator.',
      ),
    ];
  // `wrong`: defined with another type than in the mapping. `missing`: mapped and not defined. A missing attribute is `deleted` if
  // the bridge has written values of it, and otherwise `unused`.
  const defined = new Set(listed.value.map(({ name }) => name));
  const wrong = listed.value.filter(
    ({ name, type }) => Object.hasOwn(attributes, name) && attributes[name]?.type !== type,
  );
  const missing = Object.keys(attributes).filter((name) => !defined.has(name));
  const deleted = missing.filter((name) => applied?.has(name));
  const unused = missing.filter((name) => !applied?.has(name));
  // Whether the definition has another id than the one under which the bridge wrote values: it was deleted and made again.
  const isRemade = ({ id, name }: UserAttribute): boolean =>
    writtenIds.some((ids) => ids.has(name) && ids.get(name) !== id);
  const remade = listed.value.filter((each) => attributes[each.name]?.type === each.type && isRemade(each));
  return [
    ...unmapped,
    ok('attribute definitions can be read'),
    ...wrong.map((each) =>
      error(
        `attribute ${each.name} is ${each.type} there and ${attributes[each.name]?.type} in the mapping${isRemade(each) ? MADE_WITH_OTHER_TYPE : ''}`,
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

/** Returns whether the target is the tenant of the links, so that the values that the bridge has written were written there. */
async function isRecognised(feeding: WriterStates, target: string): Promise<boolean> {
  const doubts = await Promise.all(feeding.map((state) => state.whyUnrecognised(target)));
  return doubts.every((doubt) => doubt === undefined);
}

/** Returns the attributes of which a connection has written values at the target. */
async function appliedBy(feeding: WriterStates, target: string): Promise<ReadonlySet<string>> {
  const names = await Promise.all(feeding.map(({ links }) => appliedAttributes(links, target)));
  return new Set(names.flatMap((each) => [...each]));
}

/**
 * Returns for each connection the ids of the definitions under which the bridge wrote values, by name of the attribute. If no
 * definition has such an id any more, the platform has deleted the values with the definition.
 */
const writtenIdsOf = (feeding: WriterStates, target: string): Promise<ReadonlyMap<string, string>[]> =>
  Promise.all(feeding.flatMap(({ outboxes }) => outboxes.get(target)?.definitions.read() ?? []));
