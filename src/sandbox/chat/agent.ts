// Implements the agent: it reads the model, selects members, runs the query with the caller's rights and describes the result
// (`findAnswer`), and streams each step as a record (`answerQuestion`). Unless a language model selects the members, the same
// question on the same data gives the same answer.
import { randomUUID } from 'node:crypto';
import type { CubeDocument } from '../core-data/core-data.ts';
import type { ChatNames } from './names.ts';
import { toSql, toVegaSpec, titleOf } from './query.ts';
import type { Choice } from './question.ts';
import type { AgentScript } from './records.ts';
import type { Draft } from './run.ts';
import {
  toErrorResult,
  toMetaResult,
  toSqlResult,
  type AgentData,
  type Rows,
  type SqlInput,
} from './tools.ts';

/** Selects members for a question, or null when the question names none; may be asynchronous. */
export type Choose = (
  question: string,
  cubes: readonly CubeDocument[],
) => Choice | null | Promise<Choice | null>;

export interface AgentTask {
  readonly question: string;
  readonly chatId: string;
  /** Access to data with the caller's rights. */
  readonly data: AgentData;
  /** Names of tools and graph nodes. */
  readonly names: ChatNames;
  /** Development mode adds `thinking` to the records. */
  readonly showsThinking: boolean;
  /** Script that a test gave to the agent; `{}` = no script. */
  readonly script: AgentScript;
  readonly choose: Choose;
}

/** Largest number of increments into which the final text is split. */
const MAX_INCREMENTS = 12;
/** Graph path of the answer itself, by which clients find the final record (contract 6.3). */
const FINAL = ['final'];
/** Number of rows that the answer lists. */
const LISTED_ROWS = 10;

/**
 * Yields the records of an answer (contract 6.3): increments, tool calls, increments, the whole message, then the `finals` of
 * the script (further whole messages, which test how a client finds the last one). Throws the failure that the script asks
 * for; returns early when the consumer stops.
 */
export async function* answerQuestion(task: AgentTask): AsyncGenerator<Draft, void> {
  const analyst = [task.names.analyst];
  const message = createMessage(task);
  yield message.delta(analyst, 'Looking ', `The question is: ${task.question}\n`);
  yield message.delta(
    analyst,
    'at the data.\n\n',
    'The model says which members fit; a query says the rest.',
  );
  const answer = yield* findAnswer(task);
  if (task.script.failure !== undefined) throw new Error(task.script.failure);
  for (const part of increments(answer)) yield message.delta(FINAL, part);
  yield message.complete(FINAL);
  for (const { content, graphPath } of task.script.finals ?? []) {
    const record = { id: randomUUID(), role: 'assistant' as const, content, graphPath };
    yield { ...record, isDelta: false, isInProcess: false, isStructuredResponse: false };
  }
}

/** Reads the model, then runs the query. @returns the text of the answer */
async function* findAnswer(task: AgentTask): AsyncGenerator<Draft, string> {
  const search = { searchQuery: task.question };
  const cubes = yield* callTool(task, task.names.metaTool, search, async () => {
    const value = await task.data.meta();
    return { value, result: toMetaResult(value, task.question) };
  });
  if (cubes instanceof Error) return `The model cannot be read: ${cubes.message}`;
  const { sqlQuery } = task.script;
  if (sqlQuery !== undefined) return yield* runQuery(task, sqlQuery, null);
  if (cubes.length === 0) return 'No data is visible to you, so this question cannot be answered.';
  const choice = await task.choose(task.question, cubes);
  if (choice) return yield* runQuery(task, toSql(choice), choice);
  const known = cubes.map(({ title }) => title).join(', ');
  return `Nothing in the question names data that is visible to you. You may ask about: ${known}.`;
}

/** Runs the query; `choice` null = the query comes from the script. @returns the text of the answer */
async function* runQuery(
  task: AgentTask,
  sqlQuery: string,
  choice: Choice | null,
): AsyncGenerator<Draft, string> {
  const input = toInput(task, sqlQuery, choice);
  const rows = yield* callTool(task, task.names.sqlTool, input, async () => {
    if (task.script.toolError !== undefined) throw new Error(task.script.toolError);
    const value = await task.data.run(sqlQuery);
    return { value, result: toSqlResult(input, value) };
  });
  return rows instanceof Error ? `The query failed: ${rows.message}` : answerText(input.queryTitle, rows);
}

function toInput(task: AgentTask, sqlQuery: string, choice: Choice | null): SqlInput {
  const title = choice ? titleOf(choice) : 'Scripted query';
  const vegaSpec = choice ? toVegaSpec(choice) : undefined;
  return {
    sqlQuery,
    queryTitle: title,
    description: `Rows for: ${task.question}`,
    userRequest: task.question,
    memoryId: task.chatId,
    ...(vegaSpec === undefined ? {} : { vegaSpec }),
  };
}

/**
 * Runs `work` as a tool call: yields one record before it and one with its result. Returns the value of `work`, or
 * its error, which is also the result of the second record.
 */
async function* callTool<T>(
  task: AgentTask,
  name: string,
  input: object,
  work: () => Promise<{ value: T; result: object }>,
): AsyncGenerator<Draft, T | Error> {
  const call = { name, input: JSON.stringify(input) };
  const record = {
    id: randomUUID(),
    role: 'assistant' as const,
    content: '',
    graphPath: [task.names.analyst, 'tools'],
    isDelta: false,
    isStructuredResponse: false,
  };
  yield { ...record, toolCall: call, isInProcess: true };
  let outcome: T | Error;
  let result: object;
  try {
    const finished = await work();
    outcome = finished.value;
    result = finished.result;
  } catch (error) {
    // A failed tool is a result for the agent and does not end the run (contract 6.6).
    outcome = error instanceof Error ? error : new Error(String(error));
    result = toErrorResult(error);
  }
  yield { ...record, toolCall: { ...call, result: JSON.stringify(result) }, isInProcess: false };
  return outcome;
}

/** Returns the answer to a question: title, number of rows, and the first rows as text. */
function answerText(title: string, rows: Rows): string {
  if (rows.totalRows === 0) return `${title}: no rows are visible to you.`;
  const listed = rows.data.slice(0, LISTED_ROWS).map((row) => rowText(rows, row));
  const more = rows.totalRows > listed.length ? `, and ${rows.totalRows - listed.length} more` : '';
  const count = rows.totalRows === 1 ? '1 row' : `${rows.totalRows} rows`;
  return `${title} (${count}): ${listed.join('; ')}${more}.`;
}

/** Returns a row as text: the only cell, `first: second` for two cells, else `name cell` for each; null is `none`. */
function rowText(rows: Rows, row: Rows['data'][number]): string {
  if (row.length === 1) return String(row[0] ?? 'none');
  const [first, ...rest] = row.map((cell) => String(cell ?? 'none'));
  if (rest.length === 1) return `${first}: ${rest[0]}`;
  return row.map((cell, index) => `${rows.schema[index]?.name} ${String(cell ?? 'none')}`).join(', ');
}

/** Builds the assistant message of a run from increments; the last record holds the whole message. */
function createMessage(task: AgentTask) {
  const id = randomUUID();
  let content = '';
  let thinking = '';
  const base = { id, role: 'assistant' as const, isStructuredResponse: false };
  return {
    /** Returns the record of one increment: `more` of the answer, `thought` of the thinking. */
    delta(graphPath: readonly string[], more: string, thought = ''): Draft {
      content += more;
      thinking += thought;
      const shown = task.showsThinking && thought !== '' ? { thinking: thought } : {};
      return { ...base, content: more, ...shown, graphPath, isDelta: true, isInProcess: true };
    },
    /** Returns the record of the whole message. */
    complete(graphPath: readonly string[]): Draft {
      const shown = task.showsThinking ? { thinking } : {};
      return { ...base, content, ...shown, graphPath, isDelta: false, isInProcess: false };
    },
  };
}

/** Splits a text into increments after spaces; joined they equal the text. */
function increments(text: string): string[] {
  const words = text.match(/\S+\s*|\s+/g) ?? [];
  const size = Math.max(1, Math.ceil(words.length / MAX_INCREMENTS));
  const parts: string[] = [];
  for (let start = 0; start < words.length; start += size)
    parts.push(words.slice(start, start + size).join(''));
  return parts;
}
