// A staged plan for people: counts first, then examples of each kind by what they have in common.
import { DESTRUCTIVE_KINDS, type DestructiveKind } from '../guard/judge.ts';
import type { StagedItem, StagedPlanView } from '../ops/staged-plans.ts';
import { say } from './output.ts';

const EXAMPLES = 5;
const LABELS: Record<DestructiveKind, string> = {
  deactivate: 'to deactivate',
  delete: 'to delete',
  removeMembers: 'to take out of groups',
  clearAttributes: 'attribute values to empty',
};

export const countsOf = ({ kinds }: Pick<StagedPlanView, 'kinds'>): string =>
  DESTRUCTIVE_KINDS.filter((kind) => kinds[kind] > 0)
    .map((kind) => `${kinds[kind]} ${LABELS[kind]}`)
    .join(', ');

export function printPlan(plan: StagedPlanView, all: boolean): void {
  say(`Plan ${plan.id} (${plan.connection} → ${plan.target}), ${plan.state}`);
  say(`  ${countsOf(plan)}`);
  if (plan.state === 'staged') say(`  held since ${plan.openedAt}, expires ${plan.expiresAt}`);
  else say(`  ${plan.state} ${plan.at} by ${plan.by}`);
  for (const kind of DESTRUCTIVE_KINDS) {
    const items = plan.items.filter((item) => item.kind === kind);
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

/** Removals by group, emptied values by attribute; the largest first. */
function sectionsOf(kind: DestructiveKind, items: StagedItem[]): [heading: string, members: string[]][] {
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
