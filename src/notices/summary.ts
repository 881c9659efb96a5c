// Describes for receivers that a condition began or ended, in one sentence without full stop. It contains only counts, and names of
// the settings.
import type { NoticeChange, NoticeCondition, NoticeSubject } from '../directory/notice-store.ts';
import { counted } from '../support/counted.ts';
import { isoTime } from '../support/sources.ts';

/** One change as receivers see it. */
export interface NoticeItem {
  about: NoticeSubject | 'test';
  /** Null: the condition is not about one connection. */
  connection: string | null;
  /** Null: the condition is not about one target. */
  target: string | null;
  /** Kind within `about`, such as the reason of exceptions; null: `about` has no kinds. */
  reason: string | null;
  count: number;
  /** RFC 3339: start of the condition. */
  since: string;
  state: 'new' | 'resolved';
  summary: string;
  /** Address of the view of the operators' page that shows the condition. */
  link: string;
}

/** The view of the operators' page for each subject. */
export const NOTICE_VIEWS: Readonly<Record<NoticeItem['about'], string>> = {
  held: 'approvals',
  exceptions: 'exceptions',
  deadLetters: 'dead-letters',
  breaker: 'overview',
  reconcile: 'overview',
  tokens: 'tokens',
  test: 'overview',
};

/** Returns a change in the form for receivers. @param pageUrl base address of the page, without /admin */
export function toNoticeItem({ state, condition }: NoticeChange, pageUrl: string): NoticeItem {
  const { about, connection, target, reason, count, since } = condition;
  return {
    about,
    connection,
    target,
    reason,
    count,
    state,
    since: isoTime(since),
    summary: (state === 'new' ? SENTENCES[about] : ENDINGS[about])(condition),
    link: linkTo(about, pageUrl),
  };
}

/** Returns the address of the view of the operators' page for a subject. */
export const linkTo = (about: NoticeItem['about'], pageUrl: string): string =>
  `${pageUrl}/admin/#/${NOTICE_VIEWS[about]}`;

type Sentences = Record<NoticeSubject, (condition: NoticeCondition) => string>;

const at = ({ connection, target }: NoticeCondition): string => `${connection} → ${target}`;

const SENTENCES: Sentences = {
  held: (each) =>
    `${at(each)}: ${counted(each.count, 'change')} held by the guard until an operator decides or the approval expires`,
  exceptions: (each) =>
    each.reason === 'OnHold'
      ? `${at(each)}: all writes are stopped`
      : `${at(each)}: ${counted(each.count, 'exception')} (${each.reason})`,
  deadLetters: (each) => `${at(each)}: ${counted(each.count, 'dead letter')}`,
  // Reason '0': the target did not answer.
  breaker: ({ target, reason }) =>
    `${target}: calls fail in a row (${reason === '0' ? 'no answer' : `status ${reason}`}), only probes are sent`,
  reconcile: (each) =>
    each.count === 1
      ? `${at(each)}: the last reconcile did not compare everything (${each.reason})`
      : `${at(each)}: the last ${each.count} reconciles did not compare everything (${each.reason})`,
  // `grade`: minus the warning limit that the first token has reached: -30, -7 or -1 days (notice-store.ts).
  tokens: ({ connection, reason, count, grade }) =>
    reason === 'expired'
      ? `${connection}: ${counted(count, 'token')} expired`
      : `${connection}: ${counted(count, 'token')} will expire soon, the first within ${counted(-grade, 'day')}`,
};

const ENDINGS: Sentences = {
  held: (each) => `${at(each)}: no change is held any more`,
  exceptions: (each) =>
    each.reason === 'OnHold'
      ? `${at(each)}: writes are released`
      : `${at(each)}: no exception (${each.reason}) any more`,
  deadLetters: (each) => `${at(each)}: no dead letter any more`,
  breaker: ({ target }) => `${target}: the platform answers again`,
  reconcile: (each) => `${at(each)}: a reconcile compared everything again`,
  tokens: ({ connection, reason }) =>
    reason === 'expired'
      ? `${connection}: no expired token any more`
      : `${connection}: no token expires soon any more`,
};
