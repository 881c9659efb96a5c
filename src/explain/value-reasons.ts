// Converts the states of attribute values to sentences. Pure.
import type { AttributeState, ExplainedFacts } from './explanation.ts';
import { UNMAPPED, unmappedAdvice } from '../reconcile/tenant/applied-attributes.ts';
import { sameValue } from '../sync/mapping/values.ts';
import { counted } from '../support/counted.ts';
import { MOST_NAMED, someOf } from '../support/sentence-parts.ts';

/** Returns whether no sync writes the value: it is equal, its attribute left the settings, or it is kept by `onEmpty: keep`. */
export const isSettledValue = (state: AttributeState['state']): boolean =>
  state === 'equal' || state === 'unmapped' || state === 'kept';

/** Returns sentences about values that differ, cannot be mapped, or stay against the source. */
export function valueReasons(
  { kind, values, inScope, link, target, deadLetterSince }: ExplainedFacts,
  summary: string,
): string[] {
  const namesOf = (state: string): string[] =>
    values.filter((each) => each.state === state).map(({ name }) => name);
  // The condition of a dead letter tells why the name of the group is not written.
  const isNameTold = kind === 'Group' && deadLetterSince !== null;
  // Out of scope no value is wanted. Without an account the summary tells that it is missing, instead of each value.
  const countsValues = inScope && link.platformId !== null && !isNameTold;
  // A value that was seen as desired at the platform does not differ.
  const isDiffering = ({ state, desired, observed }: AttributeState): boolean =>
    state === 'differs' && (observed === undefined || !sameValue(observed, desired));
  const differing = countsValues ? values.filter(isDiffering).length : 0;
  const unsure = namesOf('unsure').length;
  const unmappable = values.filter(
    ({ state, reason }) => state === 'unmappable' && !summary.includes(String(reason)),
  );
  // Several values may have the same fault, such as of one source attribute: the fault is told once.
  const faults = [...new Set(unmappable.map(({ reason }) => reason))];
  const sentences = faults.slice(0, MOST_NAMED).map((fault) => {
    const names = unmappable.filter(({ reason }) => reason === fault).map(({ name }) => name);
    return `${someOf(names)} cannot be mapped: ${fault ?? 'no value'}.`;
  });
  if (faults.length > MOST_NAMED)
    sentences.push(`Values with ${counted(faults.length - MOST_NAMED, 'other fault')} cannot be mapped.`);
  if (differing > 0)
    sentences.push(
      `${counted(differing, 'value')} ${differing === 1 ? 'differs' : 'differ'} from what was last applied.`,
    );
  for (const name of namesOf('unmapped').slice(0, MOST_NAMED)) {
    const attribute = name.slice('attributes.'.length);
    sentences.push(`${name} ${UNMAPPED}. ${unmappedAdvice(target, attribute)}`);
  }
  const kept = namesOf('kept');
  if (kept.length > 0)
    sentences.push(
      `Kept at the platform though the source has no value, because onEmpty is keep: ${someOf(kept)}.`,
    );
  // The link has the name of a value before the value is sent, so the call may still wait, for example for the end of a pause. The
  // values of a dead letter were sent, and are not written again by themselves.
  if (unsure > 0)
    sentences.push(
      deadLetterSince === null
        ? `${counted(unsure, 'value')} not sent yet, sent and not confirmed, or seen to differ: to be written.`
        : `${counted(unsure, 'value')} sent and not confirmed, or seen to differ.`,
    );
  return sentences;
}
