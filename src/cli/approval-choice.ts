// Defines how an order of the command approvals names changes: by the id of an approval, and by options that choose a part of its
// changes.
import { Option, type Command } from 'commander';
import type { DesiredState } from '../directory/desired-state.ts';
import { DESTRUCTIVE_KINDS, type DestructiveKind } from '../guard/judge.ts';
import { heldNow } from '../ops/approvals/approval-lookup.ts';
import type { ChangeSelection } from '../ops/approvals/approval-selection.ts';
import { HELD_CAUSES, type HeldCause } from '../ops/approvals/held-change.ts';

export interface SelectionFlags {
  ref?: string[];
  person?: string[];
  kind?: DestructiveKind[];
  cause?: HeldCause[];
  group?: string[];
}

export const withSelection = (command: Command): Command =>
  command
    .option('--person <names...>', 'only these persons: userName, mail or id')
    .addOption(new Option('--kind <kinds...>', 'only these kinds of change').choices([...DESTRUCTIVE_KINDS]))
    .addOption(new Option('--cause <causes...>', 'only these causes').choices([...HELD_CAUSES]))
    .option('--group <names...>', 'only these groups and the persons who are or were their members')
    .option('--ref <refs...>', 'only what concerns these, such as User:3f…');

export const selectionOf = ({ ref, person, kind, cause, group }: SelectionFlags): ChangeSelection => ({
  refs: ref,
  persons: person,
  kinds: kind,
  causes: cause,
  groups: group,
});

/** Advice about held changes that the guard is still to judge anew. */
export const LISTED_THEN = 'Then scim-bridge approvals list shows what is held';

/** Returns the error about an id that no approval has. It names the approval whose changes are held now. */
export async function unknownApproval(states: readonly DesiredState[], id: string): Promise<Error> {
  const { present, expired } = await heldNow(states, id);
  const next = [
    ...(present === undefined
      ? []
      : [`what is held now has the id ${present}, see scim-bridge approvals show ${present}`]),
    ...(expired === null ? [] : [present === undefined ? `${expired}. ${LISTED_THEN}` : expired]),
  ];
  return new Error(
    `There is no approval ${id}, or nothing of it waits any more. It may have expired, with its first approval: ${next.join('; ') || 'see scim-bridge approvals list --all'}.`,
  );
}
