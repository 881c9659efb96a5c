// Builds the report of verify-access: four stages (push, stored, applied, visible), each with a time and a sentence. Pure.
import {
  CHAIN,
  type AccessReport,
  type AccessResult,
  type CheckedStage,
  type QueryOutcome,
} from './report.ts';
import { counted } from '../support/counted.ts';
import { provesAbsence } from './query-outcome.ts';
import { becauseOf, unmanagedText } from './differing-reasons.ts';
import type { Facts } from './facts.ts';
import { backupText, type Restored } from '../reconcile/tenant/restored.ts';
import { unreadText } from '../reconcile/tenant/tenant.ts';
import { isoTime } from '../support/sources.ts';
import { besideDesiredText } from './left-alone.ts';
import { defaultNotes } from './security-context.ts';
import type { Visibility } from './visibility.ts';
import { isChangeWaiting, isDecisionMoot } from './waiting-change.ts';

/** Returns the report for an unknown name; its chain fails at `push`. */
export function nobody(asked: string): AccessReport {
  const detail =
    'no connection of the settings knows a user of this name: none was pushed, the connection left the settings, the person was forgotten, or stored data was lost or restored';
  const chain = CHAIN.map((stage): CheckedStage =>
    stage === 'push' ? { stage, ok: false, detail } : { stage, detail: 'not reached' },
  );
  const none = { person: null, account: null, securityContext: null, deployment: null };
  const empty = { differences: [], leftAlone: [], entities: null, query: null, notes: [] };
  return { ok: false, result: 'missing', fault: null, asked, ...none, chain, ...empty };
}

/** Returns the report of a known user. */
export function toAccessReport(facts: Facts): AccessReport {
  const { asked, target, person, reading, differences, context, visibility } = facts;
  const chain = [...acceptedStages(facts), appliedStage(facts), visibleStage(facts)];
  return {
    ok: chain.every(({ ok }) => ok === true),
    result: resultOf(chain),
    fault: facts.fault ?? null,
    asked,
    person: { connection: person.connection, target, ref: person.ref, userName: person.name },
    chain,
    differences,
    leftAlone: facts.leftAlone,
    account: reading?.view ?? null,
    securityContext: context ?? null,
    deployment: visibility?.deployment ?? null,
    entities: visibility?.entities ?? null,
    query: visibility?.query ?? null,
    notes: [
      ...(facts.restored ? [restoredNote(facts.restored)] : []),
      ...facts.removedTargets,
      ...(reading?.notes ?? []),
      ...(reading && context ? defaultNotes(context, reading.view.attributes) : []),
      ...(visibility?.notes ?? []),
    ],
  };
}

const restoredNote = (restored: Restored): string =>
  `The record was restored from ${backupText(restored)}: what the source pushed or deleted between the backup and the restore is not known, unless it pushes again.`;

/** Returns `missing` if a stage failed, `unknown` if one was not checked, else `complete`. */
function resultOf(chain: readonly CheckedStage[]): AccessResult {
  if (chain.some(({ ok }) => ok === false)) return 'missing';
  return chain.every(({ ok }) => ok === true) ? 'complete' : 'unknown';
}

/** Returns the time of the newest push of the user, Unix milliseconds; 0: not known, because the record is damaged. */
export const pushedAt = ({ person }: Pick<Facts, 'person'>): number =>
  person.record?.lastModified ?? person.deleted?.deletedAt ?? 0;

/** Returns the first two stages. A push is answered only after it is stored, so both have the same time. */
function acceptedStages(facts: Facts): CheckedStage[] {
  const { record } = facts.person;
  const at = isoTime(pushedAt(facts));
  const pushed = record ? `accepted; version ${record.version}` : 'accepted: deleted at the source';
  const stored = 'stored in Redis before the request was answered';
  return [
    { stage: 'push', ok: true, at, detail: pushed },
    { stage: 'stored', ok: true, at, afterMs: 0, tookMs: facts.redisTookMs, detail: stored },
  ];
}

/** Returns the third stage: whether the account at the platform is as desired. */
function appliedStage(facts: Facts): CheckedStage {
  const { ok, detail } = appliedResult(facts);
  return { stage: 'applied', ...(ok === undefined ? {} : { ok }), ...timesOfWrite(facts), detail };
}

/** Returns when the push was applied, as far as the log of the bridge's writes shows it. */
function timesOfWrite({ person, writes, link, accountTookMs }: Facts) {
  const pushed = pushedAt({ person });
  const at = writes.ofPushAt ?? writes.newestAt ?? link.writtenAt;
  return {
    // A write before the push did not apply it.
    ...(at === undefined || at < pushed ? {} : { at: isoTime(at) }),
    // Without a write of this push the duration is unknown: a later write may come from a reconcile.
    ...(writes.ofPushAt === undefined ? {} : { afterMs: writes.ofPushAt - pushed }),
    tookMs: accountTookMs,
  };
}

/** Returns the state of the third stage (without `ok`: not known) and its sentence. */
function appliedResult(facts: Facts): Pick<CheckedStage, 'ok' | 'detail'> {
  const { wanted, differences, fault, reading } = facts;
  if (isChangeWaiting(facts)) return { ok: false, detail: `a change waits to be applied${becauseOf(facts)}` };
  const unread = unreadDetail(facts);
  if (unread !== undefined) return { detail: unread };
  // A call failed before the account was read.
  if (fault?.at === 'platform' && !reading)
    return { detail: `not known: the platform did not show the account: ${fault.message}` };
  if (facts.unlinked?.kind === 'unnamed')
    return { detail: `not known: ${wanted.kind === 'closed' ? `${wanted.why}, and ` : ''}${UNNAMED}` };
  if (differences.length > 0) {
    const names = differences.map(({ name }) => name).join(', ');
    return { ok: false, detail: `differs at the platform: ${names}${becauseOf(facts)}` };
  }
  return { ok: true, detail: wanted.kind === 'closed' ? closedText(facts, wanted.why) : openText(facts) };
}

/** Returns words about an open account that is as desired. */
function openText(facts: Facts): string {
  const groups = counted(facts.reading?.view.groups.length ?? 0, 'group');
  return `read back: active, ${groups}, every ${desiredWords(facts)}${unmanagedText(facts)}`;
}

/**
 * Returns why nothing is known of the account, because the target may be another tenant; undefined: the target was recognised. The
 * text has no `stop` if the target was recognised between the reads of `unrecognised` and `stop`.
 */
function unreadDetail({ target, unrecognised, stop }: Facts): string | undefined {
  if (!unrecognised) return undefined;
  return `not known: ${unreadText(target, unrecognised)}${stop === undefined ? '' : `: ${stop}`}`;
}

/** Returns words about a closed account, which gives no access even before its deletion. */
function closedText(facts: Facts, why: string): string {
  const { stop, link, person, reading } = facts;
  const { condition } = link;
  if (isDecisionMoot(facts))
    return `the account is ${reading ? 'closed' : 'gone'} at the platform already: ${why}; no decision about it is needed any more: the next reconcile, or scim-bridge sync ${person.ref}, takes it off the list${stop === undefined ? '' : `; ${stop}`}`;
  if (condition?.write === 'delete')
    return `the account is closed: ${why}; its deletion needs a person: ${condition.message}`;
  return condition?.reason === 'Held' || condition?.reason === 'Rejected'
    ? `the account is closed: ${why}; ${condition.message}`
    : `${reading ? 'the account is closed' : 'there is no account'}, as it should be: ${why}`;
}

/** Why nothing is known of the account of a deleted user. */
const UNNAMED = 'no link leads to an account and no userName is stored by which one could be looked up';

/** Returns what is as desired, as the end of a sentence, with what the settings leave alone. */
function desiredWords({ leftAlone }: Facts): string {
  if (leftAlone.length === 0) return 'value as desired';
  return `other value as desired; left alone by the settings: ${besideDesiredText(leftAlone)}`;
}

/** Returns the fourth stage: whether the user sees data, or sees nothing if the account is to be closed. */
function visibleStage(facts: Facts): CheckedStage {
  const { wanted, reading, visibility, fault } = facts;
  const stage = 'visible';
  const unread = unreadDetail(facts);
  if (unread !== undefined) return { stage, detail: unread };
  // A failure of the data API is described by the outcome of the query.
  if (fault && fault.at !== 'data') return { stage, detail: `not known: ${fault.message}` };
  // No deployment was asked: the account is closed, or there is none.
  if (!visibility) {
    if (facts.unlinked?.kind === 'unnamed') return { stage, detail: `not known: ${UNNAMED}` };
    const detail = reading ? 'nothing: the account is closed' : 'nothing: there is no account';
    return { stage, ok: wanted.kind === 'closed', detail };
  }
  const { deployment, seenAtMs, tookMs } = visibility;
  const place = `${deployment.name} (${deployment.environment})`;
  const seen = visibleResult(facts, visibility, place);
  // A closed user must see nothing, so visible data fails the stage.
  const shown =
    wanted.kind === 'closed' && seen.ok === true
      ? { ok: false, detail: `${seen.detail}, although ${wanted.why}${becauseOf(facts)}` }
      : seen;
  const through = facts.unlinked?.kind === 'former' ? `; ${facts.unlinked.why}` : '';
  return { stage, at: isoTime(seenAtMs), tookMs, ...shown, detail: `${shown.detail}${through}` };
}

/**
 * Returns the state and the sentence of the last stage. The list of entities is the answer if no query can be made: no entity has
 * a measure, or the API secret is missing and the operator named no query. No other failed query counts as visible.
 */
function visibleResult(
  facts: Facts,
  visibility: Visibility,
  place: string,
): Pick<CheckedStage, 'ok' | 'detail'> {
  const { entities, query, hasSecret } = visibility;
  // The query proves that the user sees nothing, even if entities are listed.
  if (query.kind === 'hidden' || query.kind === 'attributeMissing')
    return { ok: false, detail: `${query.meaning}, in ${place}: ${query.message}` };
  if (entities?.length === 0)
    return { ok: false, detail: `nothing in ${place}: no policy there names a group of this person` };
  if (query.kind === 'rows' && isEmpty(query))
    return {
      ok: false,
      detail: `no rows in ${place}: the query ran, but no row matches its filters and the policies of this user`,
    };
  const names = entities ? counted(entities.length, 'entity', 'entities') : undefined;
  // The entities were read, and none of them has a measure to ask for.
  if (query.kind === 'nothingToAsk') return { ok: true, detail: `${names ?? ''} in ${place}` };
  if (query.kind === 'rows') {
    const rows = `${counted(query.rows.length, 'row')} of the query`;
    return { ok: true, detail: `${names === undefined ? '' : `${names}, `}${rows} in ${place}` };
  }
  // Without an API secret and without a query of the operator, the list of entities is the whole question.
  if (names !== undefined && query.kind === 'notAllowed' && !hasSecret && !facts.isQueryAsked)
    return { ok: true, detail: `${names} in ${place}` };
  const detail = `${query.meaning}, in ${place}: ${query.message}`;
  return provesAbsence(query.kind) ? { ok: false, detail } : { detail };
}

/** Returns whether a query found no data: no rows, or one row whose aggregates are all 0 or empty. */
function isEmpty({ query, rows }: QueryOutcome & { kind: 'rows' }): boolean {
  const [first] = rows;
  if (!first) return true;
  const isGrouped =
    (query.dimensions ?? []).length > 0 ||
    (query.timeDimensions ?? []).some(({ granularity }) => granularity !== undefined);
  return !isGrouped && rows.length === 1 && Object.values(first).every((cell) => Number(cell ?? 0) === 0);
}
