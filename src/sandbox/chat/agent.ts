// The agent: looks at the model, picks members, runs the query in the caller's name and tells what came back.
// It invents nothing: the same question on the same data gives the same answer.
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

/** Picks members for a question, or null when it names none; may take its time. */
export type Choose = (
  question: string,
  cubes: readonly CubeDocument[],
) => Choice | null | Promise<Choice | null>;

export interface AgentTask {
  readonly question: string;
  readonly chatId: string;
  readonly data: AgentData;
  readonly names: ChatNames;
  /** Development mode shows what the agent thinks. */
  readonly showsThinking: boolean;
  readonly script: AgentScript;
  readonly choose: Choose;
}

/** The answer is cut into at most this many increments. */
const MOST_DELTAS = 12;
/** Rows that the answer spells out. */
const ROWS_TOLD = 10;

/** Increments of a text, cut after blanks; together they are the text. */
export function increments(text: string): string[] {
  const words = text.match(/\S+\s*|\s+/g) ?? [];
  const size = Math.max(1, Math.ceil(words.length / MOST_DELTAS));
  const parts: string[] = [];
  for (let start = 0; start < words.length; start += size)
    parts.push(words.slice(start, start + size).join(''));
  return parts;
}

/** The one assistant message of a run: grows by increments, ends with the record that holds all of it. */
function createMessage(task: AgentTask) {
  const id = randomUUID();
  let content = '';
  let thinking = '';
  const base = { id, role: 'assistant' as const, isStructuredResponse: false };
  return {
    delta(graphPath: readonly string[], more: string, thought = ''): Draft {
      content += more;
      thinking += thought;
      const shown = task.showsThinking && thought !== '' ? { thinking: thought } : {};
      return { ...base, content: more, ...shown, graphPath, isDelta: true, isInProcess: true };
    },
    complete(graphPath: readonly string[]): Draft {
      const shown = task.showsThinking ? { thinking } : {};
      return { ...base, content, ...shown, graphPath, isDelta: false, isInProcess: false };
    },
  };
}

/** Both records of a tool call around the work itself; the work's own failure becomes the result. */
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
    const done = await work();
    outcome = done.value;
    result = done.result;
  } catch (error) {
    // A tool that fails is an answer to the agent, not the end of the run (contract 6.6).
    outcome = error instanceof Error ? error : new Error(String(error));
    result = toErrorResult(error);
  }
  yield { ...record, toolCall: { ...call, result: JSON.stringify(result) }, isInProcess: false };
  return outcome;
}

function tellRow(rows: Rows, row: Rows['data'][number]): string {
  if (row.length === 1) return String(row[0] ?? 'none');
  const [first, ...rest] = row.map((cell) => String(cell ?? 'none'));
  if (rest.length === 1) return `${first}: ${rest[0]}`;
  return row.map((cell, place) => `${rows.schema[place]?.name} ${String(cell ?? 'none')}`).join(', ');
}

/** What the rows say, in words. */
export function tell(title: string, rows: Rows): string {
  if (rows.totalRows === 0) return `${title}: no rows are visible to you.`;
  const told = rows.data.slice(0, ROWS_TOLD).map((row) => tellRow(rows, row));
  const more = rows.totalRows > told.length ? `, and ${rows.totalRows - told.length} more` : '';
  const count = rows.totalRows === 1 ? '1 row' : `${rows.totalRows} rows`;
  return `${title} (${count}): ${told.join('; ')}${more}.`;
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

/** Runs the query and answers the text of the answer. */
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
  return rows instanceof Error ? `The query failed: ${rows.message}` : tell(input.queryTitle, rows);
}

/** Looks at the model, then at the data; answers the text of the answer. */
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

/**
 * Answers a question as a sequence of records (contract 6.3): increments, tool calls, increments, the whole message.
 * Throws what the script calls a failure; returns early when the consumer stops listening.
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
  for (const part of increments(answer)) yield message.delta(['final'], part);
  yield message.complete(['final']);
  for (const { content, graphPath } of task.script.finals ?? []) {
    const record = { id: randomUUID(), role: 'assistant' as const, content, graphPath };
    yield { ...record, isDelta: false, isInProcess: false, isStructuredResponse: false };
  }
}
