// Parses metrics by the rules of the Prometheus text format: an invalid line fails the test.
import { request } from 'undici';

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Scrape {
  samples: Sample[];
  /** Metric name → type, from `# TYPE`. */
  types: Map<string, string>;
  help: Map<string, string>;
  /** Returns all samples of a name whose labels include these. */
  find(name: string, labels?: Record<string, string>): Sample[];
  /** Returns the sum of the samples; 0 without samples. */
  sum(name: string, labels?: Record<string, string>): number;
  /** Returns the only sample. @throws Error when there is none, or more than one */
  value(name: string, labels?: Record<string, string>): number;
}

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let end = 0;
  for (const match of text.matchAll(LABEL)) {
    labels[match[1] ?? ''] = (match[2] ?? '').replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c));
    end = match.index + match[0].length;
  }
  if (end !== text.length) throw new Error(`labels that nobody can read: ${text}`);
  return labels;
}

function parseValue(text: string): number {
  if (/^[+-]?Inf$/.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (text === 'NaN' || text === 'Nan') return NaN;
  const value = Number(text);
  if (Number.isNaN(value)) throw new Error(`a value that is none: ${text}`);
  return value;
}

/** @throws Error with a line that is invalid or has no type */
export function parseScrape(text: string): Scrape {
  if (!text.endsWith('\n')) throw new Error('the text does not end with a line break');
  const samples: Sample[] = [];
  const types = new Map<string, string>();
  const help = new Map<string, string>();
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const [, word, family = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (word === 'HELP') help.set(family, rest);
    else if (word === 'TYPE') types.set(family, rest);
    if (line.startsWith('#')) continue;
    const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? [];
    if (name === '') throw new Error(`a line that nobody can read: ${line}`);
    if (!types.has(name) && !types.has(name.replace(/_(bucket|sum|count)$/, '')))
      throw new Error(`no type before ${line}`);
    samples.push({ name, labels: parseLabels(labels), value: parseValue(value) });
  }
  const seen = samples.map(({ name, labels }) => `${name} ${JSON.stringify(Object.entries(labels).sort())}`);
  if (new Set(seen).size !== seen.length) throw new Error('a series is there twice');
  const find: Scrape['find'] = (name, labels = {}) =>
    samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
  return {
    samples,
    types,
    help,
    find,
    sum: (name, labels) => find(name, labels).reduce((total, { value }) => total + value, 0),
    value: (name, labels) => {
      const found = find(name, labels);
      const [sample] = found;
      if (!sample || found.length > 1)
        throw new Error(`${name} ${JSON.stringify(labels)} is there ${found.length} times`);
      return sample.value;
    },
  };
}

export async function scrape(port: number): Promise<Scrape> {
  const answer = await request(`http://127.0.0.1:${port}/metrics`);
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`/metrics answered ${answer.statusCode}: ${text}`);
  return parseScrape(text);
}
