// Lets a language model behind an OpenAI-compatible address select the members (measures and dimensions of a cube)
// for a question (optional). The model receives the question and the names and descriptions of members, never a row. Its
// selection is limited to the members that the caller may see, and the query runs with the caller's rights.
import type { CubeDocument, MemberDocument } from '../core-data/core-data.ts';
import { isJsonObject, own, type SandboxJsonObject } from '../json.ts';
import type { Choose } from './agent.ts';
import { GRAINS, type Choice } from './question.ts';
import { timeLimit } from '../../support/time-limit.ts';

export interface ChatModelOptions {
  /** Base address such as `https://models.example.com/v1`; https, or http on loopback. */
  readonly url: string;
  readonly model: string;
  /** Sent as Bearer; absent = no credential. */
  readonly apiKey?: string;
  /** Milliseconds; default 20,000. */
  readonly timeoutMs?: number;
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);
/** Longest answer that is accepted, characters. */
const LONGEST_ANSWER = 100_000;
/** Largest number of rows that the model may ask for by `top`: three digits, as in a question without a model (question.ts). */
const LARGEST_TOP = 999;
const DEFAULT_TIMEOUT_MS = 20_000;

const INSTRUCTIONS = `Pick the members of a data model that answer the question. Reply with one JSON object:
{"cube": name, "measures": [names], "dimensions": [names], "grain": "day|week|month|quarter|year" or null, "top": number or null}.
Use only names from the list. If nothing fits, reply {"cube": null}.`;

/** Returns the address of the completions endpoint; throws unless it is https or loopback. */
function endpointOf({ url }: ChatModelOptions): URL {
  const base = new URL(url);
  const isSafe = base.protocol === 'https:' || (base.protocol === 'http:' && LOOPBACK.has(base.hostname));
  if (!isSafe) throw new Error('The address of the chat model must be https, or http on loopback');
  return new URL(`${base.pathname.replace(/\/$/, '')}/chat/completions`, base);
}

/** Returns the cubes with their members as JSON, for the instructions to the model. */
function describe(cubes: readonly CubeDocument[]): string {
  const list = (members: readonly MemberDocument[]): object[] =>
    members.map(({ name, title, description, type }) => ({ name, title, description, type }));
  return JSON.stringify(
    cubes.map(({ name, title, measures, dimensions }) => ({
      name,
      title,
      measures: list(measures),
      dimensions: list(dimensions),
    })),
  );
}

function picked(
  source: SandboxJsonObject,
  name: string,
  members: readonly MemberDocument[],
): MemberDocument[] {
  const sent = own(source, name);
  if (!Array.isArray(sent)) return [];
  return members.filter((member) => sent.includes(member.name));
}

/** Returns the selection in the model's reply, limited to visible members; null without one. */
function parseChoice(reply: unknown, cubes: readonly CubeDocument[]): Choice | null {
  if (!isJsonObject(reply)) return null;
  const cube = cubes.find(({ name }) => name === own(reply, 'cube'));
  if (!cube) return null;
  const measures = picked(reply, 'measures', cube.measures);
  const dimensions = picked(reply, 'dimensions', cube.dimensions);
  if (measures.length + dimensions.length === 0) return null;
  const hasTime = dimensions.some(({ type }) => type === 'time');
  const grain = hasTime ? (GRAINS.find((name) => name === own(reply, 'grain')) ?? null) : null;
  const top = own(reply, 'top');
  const isTop = typeof top === 'number' && Number.isInteger(top) && top > 0 && top <= LARGEST_TOP;
  return { cube, measures, dimensions, grain, top: isTop ? top : null };
}

/** Returns the JSON in the model's message; null when it is prose. @throws Error when there is no message */
function contentOf(body: unknown): unknown {
  const choices = isJsonObject(body) ? own(body, 'choices') : undefined;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isJsonObject(first) ? own(first, 'message') : undefined;
  const content = isJsonObject(message) ? own(message, 'content') : undefined;
  if (typeof content !== 'string') throw new Error('The chat model answered without a text');
  try {
    return JSON.parse(content);
  } catch {
    // Prose selects no member.
    return null;
  }
}

/**
 * Creates the selection function. Throws for an address that is not allowed. The function rejects when the
 * model is unreachable or refuses.
 */
export function createModelChoice(options: ChatModelOptions): Choose {
  const endpoint = endpointOf(options);
  const headers = {
    'content-type': 'application/json',
    ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
  };
  return async (question, cubes) => {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers,
      // A redirect would send question and credential to an address that was not configured.
      redirect: 'error',
      signal: timeLimit(options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
      body: JSON.stringify({
        model: options.model,
        temperature: 0,
        response_format: { type: 'json_object' },
        messages: [
          { role: 'system', content: `${INSTRUCTIONS}\n${describe(cubes)}` },
          { role: 'user', content: question },
        ],
      }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`The chat model answered ${response.status}`);
    if (text.length > LONGEST_ANSWER) throw new Error('The chat model answered too much');
    return parseChoice(contentOf(JSON.parse(text)), cubes);
  };
}
