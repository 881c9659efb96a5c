// Formats an approval as text: counts first, then examples of each kind, grouped by group or attribute.
import { DESTRUCTIVE_KINDS, type DestructiveKind } from '../guard/judge.ts';
import type { HeldChange, Approval } from '../ops/approvals.ts';
import { say } from './output.ts';

const EXAMPLES = 5;
const LABELS: Record<DestructiveKind, string> = {
  deactivate: 'to deactivate',
  delete: 'to delete',
  removeMembers: 'to take out of groups',
  clearAttributes: 'attribute values to empty',
};

export const approvalCounts = ({ kinds }: Pick<Approval, 'kinds'>): string =>
  DESTRUCTIVE_KINDS.filter((kind) => kinds[kind] > 0)
    .map((kind) => `${kinds[kind]} ${LABELS[kind]}`)
    .join(', ');

export function printApproval(approval: Approval, all: boolean): void {
  say(`Approval ${approval.id} (${approval.connection} → ${approval.target}), ${approval.state}`);
  say(`  ${approvalCounts(approval)}`);
  if (approval.state === 'held') say(`  held since ${approval.openedAt}, expires ${approval.expiresAt}`);
  else say(`  ${approval.state} ${approval.at} by ${approval.by}`);
  for (const kind of DESTRUCTIVE_KINDS) {
    const items = approval.items.filter((item) => item.kind === kind);
    if (items.length === 0) continue;
    say('', `${items.length} ${LABELS[kind]}`);
    for (const [heading, members] of sectionsOf(kind, items)) {
      const limit = all ? members.length : EXAMPLES;
      const more = members.length > limit ? ` … and ${members.length - limit} more (--all)` : '';
      if (heading !== '') say(`  ${heading} (${members.length})`);
      for (const member of members.slice(0, limit)) say(`    - ${member}`);
      if (more) say(`   ${more}`);
    }
  }
}

/** Groups removals by group and cleared values by attribute; the largest first. */
function sectionsOf(kind: DestructiveKind, items: HeldChange[]): [heading: string, members: string[]][] {
  const sections = new Map<string, string[]>();
  for (const { name, member = '', ref, reason = '' } of items) {
    const [heading, line] =
      kind === 'removeMembers'
        ? [name, member]
        : kind === 'clearAttributes'
          ? [member, name]
          : [reason, `${name}  ${ref}`];
    const lines = sections.get(heading);
    if (lines) lines.push(line);
    else sections.set(heading, [line]);
  }
  return [...sections].sort(([, left], [, right]) => right.length - left.length);
}
