// Compares one connection with one target and makes the plan. It writes nothing at the platform. In Redis it marks the members of
// renamed groups, and `remember` may store fingerprints; all else that the next run has to know is returned as `findings`.
import { isoTime } from '../../support/sources.ts';
import { countsOf, type Plan } from '../plan.ts';
import { withoutLeftOut } from '../scan/scan-groups.ts';
import type { ReconcileScope } from '../scope.ts';
import { asIfUnlinked } from '../tenant/as-if-unlinked.ts';
import type { Restored } from '../tenant/restored.ts';
import { beginScan, scanLists, type PlanOptions } from './compare-all.ts';
import { gatherFacts, type PlanFacts } from './plan-facts.ts';
import { judgeTenant, toFindings, type RunFindings, type TenantVerdict } from './run-findings.ts';

/** Largest number of unread resources in a plan. */
const MOST_UNREAD = 100;

/** A plan, and the findings of its comparison that apply-plan.ts stores afterwards. */
export interface Compared {
  plan: Plan;
  findings: RunFindings;
}

/**
 * Compares all users and groups of the scope with the platform.
 * @returns the plan; if the platform may be another tenant, by this comparison or because another connection holds the target for
 *   it, the plan of `planOfAnotherTenant`
 */
export async function makePlan(scope: ReconcileScope, options: PlanOptions): Promise<Compared> {
  const hold = await scope.outbox.guardStore.tenantHoldElsewhere();
  return compareWith(scope, options, hold?.note);
}

async function compareWith(
  scope: ReconcileScope,
  options: PlanOptions,
  suspicionElsewhere: string | undefined,
): Promise<Compared> {
  const startedAt = scope.clock.now();
  const run = await beginScan(scope, options);
  const lists = await scanLists(run);
  const tenant = { ...judgeTenant(lists.users), suspicionElsewhere };
  if ((tenant.tenantSuspicion ?? suspicionElsewhere) !== undefined)
    return planOfAnotherTenant(scope, options, tenant);
  const facts = await gatherFacts(run, lists, { ...options, startedAt });
  return { plan: toPlan(facts, options.id, startedAt), findings: toFindings(facts, tenant) };
}

/**
 * Returns the plan of what follows if an operator accepts the new tenant. It is made by a second comparison, in which no resource
 * has a link; that comparison suspects no tenant, because a tenant is recognised by links alone. The acceptance forgets the links,
 * after which all users have to be mapped, so the comparison maps them already. It also marks the members of renamed groups again,
 * which changes nothing.
 */
async function planOfAnotherTenant(
  scope: ReconcileScope,
  options: PlanOptions,
  tenant: TenantVerdict,
): Promise<Compared> {
  const unlinked = asIfUnlinked(scope);
  const { plan, findings } = await compareWith(unlinked, { ...options, mapsAll: true }, undefined);
  // Accounts closed at the former tenant own no workbooks or reports at the new one, so nothing is handed over.
  const { handover: _, ...withoutHandover } = plan;
  return {
    plan: { ...withoutHandover, anotherTenant: tenant.tenantSuspicion ?? tenant.suspicionElsewhere ?? '' },
    findings: { ...findings, ...tenant },
  };
}

/** Returns the document of all differences. @param startedAt begin of the comparison, Unix milliseconds */
function toPlan(
  { run: { scan }, lists, values, entries, exceptions, handover, openRestore, leftOut }: PlanFacts,
  id: string,
  startedAt: number,
): Plan {
  const { scope } = scan;
  const { users, groups, verifiedGroups } = lists;
  const groupCoverage = withoutLeftOut(groups, leftOut);
  const membersRead = verifiedGroups.filter(({ isMembersRead }) => isMembersRead).length;
  return {
    format: 'scim-bridge plan',
    formatVersion: 1,
    id,
    createdAt: isoTime(startedAt),
    connection: scope.connection,
    target: scope.target.name,
    mapping: scope.digest,
    proof: { users: users.proof, groups: groups.proof },
    unknown: scan.unread.size,
    ...(scan.unread.size > 0 && { unread: [...scan.unread.values()].slice(0, MOST_UNREAD) }),
    cost: {
      calls: scan.counts.calls,
      values: { read: values.read, of: values.of },
      // More groups may be read than are linked: also those that are in scope again, and those whose link was lost.
      members: { read: membersRead, of: Math.max(membersRead, groupCoverage.linked) },
      durationMs: scope.clock.now() - startedAt,
    },
    coverage: { users: users.coverage, groups: groupCoverage },
    exceptions,
    ...(openRestore ? { restored: inIso(openRestore) } : {}),
    ...(handover ? { handover } : {}),
    counts: countsOf(entries),
    entries,
  };
}

/** Returns the times of a restore in the form of the plan. */
const inIso = ({ at, backupAt }: Restored): NonNullable<Plan['restored']> => ({
  at: isoTime(at),
  backup: backupAt === undefined ? null : isoTime(backupAt),
});
