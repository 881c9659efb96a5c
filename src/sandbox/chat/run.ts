// Implements a running answer: a growing list of lines that any number of readers follow at their own speed.
// The run does not wait for readers.
import type { MessageRecord } from './records.ts';

/** A record before its `sort` is assigned. */
export type Draft = Omit<MessageRecord, 'sort'>;

export interface Run {
  readonly chatId: string;
  /** Id of the question that is answered; null = the client sent none. */
  readonly messageId: string | null;
  /**
   * Platform ids of the users whose deletion or deactivation ends the run: the internal user who asked, and the owner of the API
   * key; empty for a run with a token.
   */
  readonly userIds: ReadonlySet<number>;
  /** Aborted when the run is over. */
  readonly signal: AbortSignal;
  lastSort(): number;
  /** Adds a record; does nothing after the run is over. */
  append(draft: Draft): void;
  /** Returns the finished messages of this run, then the unfinished ones with their current content. */
  messages(): readonly MessageRecord[];
  /** Returns the finished messages alone. */
  finished(): readonly MessageRecord[];
  /** Adds the last lines and ends all readers after them; a second call does nothing. */
  close(lines: readonly string[]): void;
  /** Yields the lines that are added from now on. Ends with the run, or when the reader calls `return` of the iterator. */
  follow(): AsyncIterable<string>;
  /** Returns the number of iterators of `follow` that have not ended. */
  readers(): number;
}

interface RunStart extends Pick<Run, 'chatId' | 'messageId' | 'userIds'> {
  /** `sort` of the record before the first one of the run. */
  readonly lastSort: number;
}

export function toLine(record: object): string {
  return `${JSON.stringify(record)}\n`;
}

/** Returns the message after one more record: the text of a delta is appended; any other record replaces it. */
function grow(present: MessageRecord | undefined, record: MessageRecord): MessageRecord {
  if (!present || !record.isDelta) return record;
  const thinking = `${present.thinking ?? ''}${record.thinking ?? ''}`;
  const message = { ...record, content: present.content + record.content };
  return thinking === '' ? message : { ...message, thinking };
}

/** Creates a run, whose records are lines that several readers follow, each from the time at which it joins. */
export function createRun(start: RunStart): Run {
  const lines: string[] = [];
  /** Functions that resume the readers which wait for a line. */
  const waiting = new Set<() => void>();
  const finished: MessageRecord[] = [];
  /** Unfinished messages by id. */
  const unfinished = new Map<string, MessageRecord>();
  const ended = new AbortController();
  let sort = start.lastSort;
  let readers = 0;

  function resumeReaders(): void {
    const resumes = [...waiting];
    waiting.clear();
    for (const resume of resumes) resume();
  }

  /**
   * Returns an iterator over the lines from now on. It is not an async generator, because `return` must take effect
   * at once, even while the next line is awaited.
   */
  function createIterator(): AsyncIterator<string> {
    let next = lines.length;
    let isGone = false;
    let resume: (() => void) | undefined;
    readers += 1;
    const leave = (): IteratorResult<string> => {
      if (!isGone) readers -= 1;
      isGone = true;
      if (resume) waiting.delete(resume);
      resume?.();
      return { done: true, value: undefined };
    };
    return {
      async next() {
        for (;;) {
          if (isGone) return { done: true, value: undefined };
          const line = lines[next];
          if (line !== undefined) {
            next += 1;
            return { done: false, value: line };
          }
          if (ended.signal.aborted) return leave();
          await new Promise<void>((resolve) => {
            resume = resolve;
            waiting.add(resolve);
          });
        }
      },
      return: () => Promise.resolve(leave()),
    };
  }

  return {
    chatId: start.chatId,
    messageId: start.messageId,
    userIds: start.userIds,
    signal: ended.signal,
    lastSort: () => sort,
    append(draft) {
      if (ended.signal.aborted) return;
      sort += 1;
      const record: MessageRecord = { ...draft, sort };
      lines.push(toLine(record));
      if (record.isInProcess) unfinished.set(record.id, grow(unfinished.get(record.id), record));
      else {
        unfinished.delete(record.id);
        finished.push(record);
      }
      resumeReaders();
    },
    messages: () => [...finished, ...unfinished.values()],
    finished: () => finished,
    close(last) {
      if (ended.signal.aborted) return;
      lines.push(...last);
      ended.abort();
      resumeReaders();
    },
    follow: () => {
      const iterator = createIterator();
      return { [Symbol.asyncIterator]: () => iterator };
    },
    readers: () => readers,
  };
}
