// Gives a comparison the state in which all links of a target are forgotten (change-tenant.ts). An operator who is asked whether
// the target is another tenant sees by it what a run would do there, before the first link is removed. Writes nothing.
import type { CoverPortion, CoverState } from '../../directory/outbox/coverage.ts';
import type { ObservedResource } from '../../directory/outbox/drift.ts';
import type { Kind } from '../../directory/records.ts';
import type { ReconcileScope } from '../scope.ts';

/** States that forgotten links leave unchanged: those of resources with a mark. */
const MARKED: ReadonlySet<CoverState> = new Set(['pending', 'behindHeld', 'behindRefused', 'stuck']);

/** Returns a scope that reads as if the target had no links, for the plan of another tenant. */
export function asIfUnlinked(scope: ReconcileScope): ReconcileScope {
  const { coverage, drifts, links, outbox } = scope;
  // '': the stored text of a resource without link.
  const unlinked = (observed: ObservedResource): ObservedResource => ({ ...observed, text: '' });
  async function* resources(kind: Kind): AsyncGenerator<CoverPortion> {
    for await (const { linked, others } of coverage.resources(kind))
      yield {
        linked: [],
        others: [...linked.map(({ ref }) => ({ ref, state: 'missing' as const })), ...others].map(
          ({ ref, state }) => ({ ref, state: MARKED.has(state) ? state : 'missing' }),
        ),
      };
  }
  async function* briefly(kind: Kind) {
    for await (const { others } of resources(kind)) yield { linked: 0, others };
  }
  return {
    ...scope,
    links: {
      ...links,
      get: () => Promise.resolve({}),
      getMany: (_target, refs) => Promise.resolve(refs.map(() => ({}))),
      holderOf: () => Promise.resolve(undefined),
      some: () => Promise.resolve([]),
      all: nothing,
    },
    drifts: {
      ...drifts,
      linkedTo: (_kind, ids) => Promise.resolve(ids.map(() => undefined)),
      // No account counts as equal by its fingerprint.
      unlikePrints: (seen) => Promise.resolve(seen.map((_, index) => index)),
      readLinks: async (refs) => (await drifts.readLinks(refs)).map(unlinked),
      membersOf: async (group) => (await drifts.membersOf(group)).map(({ user }) => ({ user, link: {} })),
    },
    coverage: { ...coverage, resources, briefly, orphans: nothing },
    // The sync of a resource without link ends its dead letter.
    outbox: { ...outbox, blocked: () => Promise.resolve([]) },
  };
}

async function* nothing(): AsyncGenerator<never> {
  // A forgotten link leaves neither a link nor an account to be closed.
}
