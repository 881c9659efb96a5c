// Tells what a comparison of one resource left out.
import { counted } from '../../support/counted.ts';

/**
 * Returns a sentence without full stop: groups of a person were not compared, and the command that compares them; or removals of
 * members of a group were not compared, and what this means.
 */
export const notComparedText = (kind: 'User' | 'Group', count: number): string => {
  const were = `${count === 1 ? 'was' : 'were'} not compared, because they are too many for one look`;
  return kind === 'User'
    ? `${counted(count, 'group')} of the person ${were}, or the platform did not answer: scim-bridge reconcile --full compares all`
    : `${counted(count, 'removal')} of members ${were}, so ${count === 1 ? 'it' : 'some of them'} may be made at the platform already`;
};
