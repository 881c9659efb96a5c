// Builds the report of verify-access: four links (push, stored, applied, visible), each with a time and a sentence. Pure.
import type { Link } from '../directory/outbox/links.ts';
import type { FoundResource } from '../ops/find.ts';
import { CHAIN, type AccessReport, type ChainLink, type AccountDifference } from './report.ts';
import type { Reading } from './account.ts';
import type { DesiredAccess } from './desired-access.ts';
import { iso } from '../explain/explain.ts';
import type { LastWrite } from './last-write.ts';
import type { SecurityContext } from './security-context.ts';
import type { Visibility } from './visibility.ts';

export interface Facts {
  asked: string;
  target: string;
  person: FoundResource;
  wanted: DesiredAccess;
  link: Link;
  /** Whether the user has a dirty mark, so that a change is not applied yet. */
  isMarked: boolean;
  write: LastWrite | undefined;
  reading: Reading | undefined;
  differences: AccountDifference[];
  context: SecurityContext | undefined;
  visibility: Visibility | undefined;
  /** Whether the operator named the query; only then does its refusal fail the link `visible`. */
  isQueryAsked: boolean;
  storedTookMs: number;
  readTookMs: number;
}

/** Returns the report for an unknown name; its chain fails at `push`. */
export function nobody(asked: string): AccessReport {
  const detail = 'no identity provider has pushed a user of this name';
  const chain = CHAIN.map((stage): ChainLink =>
    stage === 'push' ? { stage, ok: false, detail } : { stage, detail: 'not reached' },
  );
  const none = { person: null, account: null, securityContext: null, deployment: null };
  return { ok: false, asked, ...none, chain, differences: [], entities: null, query: null, notes: [] };
}

export function toReport(facts: Facts): AccessReport {
  const { asked, target, person, reading, differences, context, visibility } = facts;
  const chain = [pushLink(facts), storedLink(facts), appliedLink(facts), visibleLink(facts)];
  return {
    ok: chain.every(({ ok }) => ok === true),
    asked,
    person: { connection: person.connection, target, ref: person.ref, userName: person.name },
    chain,
    differences,
    account: reading?.view ?? null,
    securityContext: context ?? null,
    deployment: visibility?.deployment ?? null,
    entities: visibility?.entities ?? null,
    query: visibility?.query ?? null,
    notes: [...(reading?.notes ?? []), ...(visibility?.notes ?? [])],
  };
}

/** Returns the time of the newest change of the user or of a membership, Unix milliseconds. */
const changedAt = ({ person, write }: Facts): number =>
  Math.max(person.record?.lastModified ?? person.deleted?.deletedAt ?? 0, write?.accepted ?? 0);

function pushLink(facts: Facts): ChainLink {
  const { record } = facts.person;
  const detail = record ? `accepted; version ${record.version}` : 'accepted: deleted at the source';
  return { stage: 'push', ok: true, at: iso(changedAt(facts)), detail };
}

function storedLink(facts: Facts): ChainLink {
  const detail = 'stored in Redis before the request was answered';
  return {
    stage: 'stored',
    ok: true,
    at: iso(changedAt(facts)),
    afterMs: 0,
    tookMs: facts.storedTookMs,
    detail,
  };
}

function appliedLink(facts: Facts): ChainLink {
  const { write, link, wanted, isMarked, differences, readTookMs: tookMs } = facts;
  const at = write?.at ?? link.writtenAt;
  const times = {
    ...(at === undefined ? {} : { at: iso(at) }),
    ...(write ? { afterMs: Math.max(0, write.at - write.accepted) } : {}),
    tookMs,
  };
  const because = link.condition ? `: ${link.condition.message}` : '';
  if (isMarked)
    return { stage: 'applied', ok: false, ...times, detail: `a change waits to be applied${because}` };
  if (differences.length > 0) {
    const names = differences.map(({ name }) => name).join(', ');
    return { stage: 'applied', ok: false, ...times, detail: `differs at the platform: ${names}${because}` };
  }
  const detail =
    wanted.kind === 'closed'
      ? `the account is closed, as it should be: ${wanted.why}`
      : `read back: active, ${count(facts.reading?.view.groups.length ?? 0, 'group')}, every value as desired`;
  return { stage: 'applied', ok: true, ...times, detail };
}

function visibleLink({ wanted, reading, visibility, isQueryAsked }: Facts): ChainLink {
  const stage = 'visible';
  if (!visibility) {
    const detail = 'nothing: the account is closed';
    if (wanted.kind === 'closed') return { stage, ok: true, detail };
    return { stage, ok: false, detail: reading ? detail : 'nothing: there is no account' };
  }
  const { deployment, entities, query, seenAtMs, tookMs } = visibility;
  const place = `${deployment.name} (${deployment.environment})`;
  const times = { at: iso(seenAtMs), tookMs };
  if (entities.length === 0) {
    const detail = `nothing in ${place}: no policy there names a group of this person`;
    return { stage, ok: false, ...times, detail };
  }
  if (isQueryAsked && query.kind === 'refused')
    return { stage, ok: false, ...times, detail: `the query is refused in ${place}: ${query.message}` };
  const names = count(entities.length, 'entity', 'entities');
  const rows = query.kind === 'rows' ? `, ${count(query.rows.length, 'row')} of the query` : '';
  return { stage, ok: true, ...times, detail: `${names}${rows} in ${place}` };
}

const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;
