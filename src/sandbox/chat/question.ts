// From a question to members of the model: by the words of their names and titles, the same way every time. Pure.
import type { CubeDocument, MemberDocument } from '../core-data/core-data.ts';

export type Grain = 'day' | 'week' | 'month' | 'quarter' | 'year';

/** What to ask of one cube or view. `grain` cuts the time dimension among `dimensions`. */
export interface Choice {
  readonly cube: CubeDocument;
  readonly measures: readonly MemberDocument[];
  readonly dimensions: readonly MemberDocument[];
  readonly grain: Grain | null;
  /** Rows with the largest first measure, when the question asks for the top ones. */
  readonly top: number | null;
}

const GRAINS: readonly Grain[] = ['day', 'week', 'month', 'quarter', 'year'];
/** Words in names that say nothing about the meaning. */
const FILLERS = new Set(['at', 'id', 'of', 'the', 'number', 'by', 'in', 'on']);
/** Words of a question that stand for an aggregation, by the measure's `aggType`. */
const AGGREGATION_WORDS: Readonly<Record<string, readonly string[]>> = {
  count: ['count', 'many', 'number'],
  countDistinct: ['distinct', 'unique'],
  sum: ['sum', 'total', 'revenue', 'turnover'],
  avg: ['average', 'mean', 'avg'],
  max: ['max', 'maximum', 'highest', 'largest'],
  min: ['min', 'minimum', 'lowest', 'smallest'],
};
const MOST_MEASURES = 4;
const MOST_DIMENSIONS = 4;

function singular(word: string): string {
  if (/(ss|us|is)$/.test(word) || word.length < 4) return word;
  if (/ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(ses|xes|ches|shes)$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') ? word.slice(0, -1) : word;
}

/** Lower-case words in their singular; underscores and camel case part words too. */
export function wordsOf(text: string): string[] {
  const parted = text.replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2').toLowerCase();
  return (parted.match(/[\p{L}\d]+/gu) ?? []).map(singular);
}

export function shortName(member: MemberDocument): string {
  return member.name.slice(member.name.lastIndexOf('.') + 1);
}

/** How much of a name the question says, 0 to 1; the name counts as well as the title, whichever fits better. */
function likeness(texts: readonly string[], asked: ReadonlySet<string>): number {
  const shares = texts.map((text) => {
    const words = wordsOf(text).filter((word) => !FILLERS.has(word));
    return words.length === 0 ? 0 : words.filter((word) => asked.has(word)).length / words.length;
  });
  return Math.max(0, ...shares);
}

interface Scored {
  readonly member: MemberDocument;
  /** The question says its name, not only a word of its aggregation. */
  readonly isSaid: boolean;
  readonly score: number;
}

function scoreMember(member: MemberDocument, question: string, asked: ReadonlySet<string>): Scored {
  if (question.includes(member.name.toLowerCase())) return { member, isSaid: true, score: 2 };
  const byName = likeness([shortName(member), member.shortTitle], asked);
  const meant = (AGGREGATION_WORDS[member.aggType ?? ''] ?? []).some((word) => asked.has(word));
  return { member, isSaid: byName === 1, score: meant ? Math.max(byName, 0.5) + 0.25 : byName };
}

/** The members that fit at least half; of measures that fit only halfway the best, so that "total" picks one. */
function fitting(scored: readonly Scored[], most: number): Scored[] {
  const good = scored.filter(({ score }) => score >= 0.5);
  const whole = good.filter(({ score }) => score >= 1);
  const best = Math.max(...good.map(({ score }) => score));
  return (whole.length > 0 ? whole : good.filter(({ score }) => score === best)).slice(0, most);
}

const sum = (scored: readonly Scored[]): number => scored.reduce((total, { score }) => total + score, 0);
const membersOf = (scored: readonly Scored[]): MemberDocument[] => scored.map(({ member }) => member);

/** Time dimension of a cube that a grain in the question cuts, named or not. */
function timeDimension(cube: CubeDocument, named: readonly MemberDocument[]): MemberDocument | undefined {
  return [...named, ...cube.dimensions].find(({ type }) => type === 'time');
}

/** A count when rows are asked for without a word on what to measure; a list asks for no measure at all. */
function defaultMeasures(cube: CubeDocument, asked: ReadonlySet<string>): MemberDocument[] {
  if (['list', 'show', 'rows', 'row', 'record'].some((word) => asked.has(word))) return [];
  const counting = cube.measures.find(({ aggType }) => aggType === 'count') ?? cube.measures[0];
  return counting ? [counting] : [];
}

/** What comes before "by", "per" or "each": the subject, which alone can name a cube. */
function subjectOf(question: string): Set<string> {
  return new Set(wordsOf(question.split(/\b(?:by|per|each)\b/)[0] ?? ''));
}

/**
 * The best choice within one cube. The score is 0 when the question names neither the cube nor a member of it:
 * who may not see the orders must not get the count of something else instead.
 */
function considerCube(cube: CubeDocument, question: string): { choice: Choice; score: number } {
  const asked = new Set(wordsOf(question));
  const score = (member: MemberDocument): Scored => scoreMember(member, question, asked);
  const measures = fitting(cube.measures.map(score), MOST_MEASURES);
  const dimensions = fitting(cube.dimensions.map(score), MOST_DIMENSIONS);
  const grain = GRAINS.find((name) => asked.has(name)) ?? null;
  const time = grain ? timeDimension(cube, membersOf(dimensions)) : undefined;
  const chosen = [...new Set([...membersOf(dimensions), ...(time ? [time] : [])])];
  const isNamed = likeness([cube.name, cube.title], subjectOf(question)) === 1;
  const isMeant = isNamed || [...measures, ...dimensions].some(({ isSaid }) => isSaid);
  const [, top] = /\btop (\d{1,3})\b/.exec(question) ?? [];
  return {
    score: isMeant ? sum(measures) + sum(dimensions) + (isNamed ? 1.5 : 0) : 0,
    choice: {
      cube,
      measures: measures.length > 0 ? membersOf(measures) : defaultMeasures(cube, asked),
      dimensions: chosen,
      grain: time ? grain : null,
      top: top === undefined || Number(top) === 0 ? null : Number(top),
    },
  };
}

/** The best choice among the visible cubes, or null when the question names nothing of them. */
export function chooseMembers(question: string, cubes: readonly CubeDocument[]): Choice | null {
  const lower = question.toLowerCase();
  let best: { choice: Choice; score: number } | undefined;
  for (const cube of cubes) {
    const considered = considerCube(cube, lower);
    const hasMembers = considered.choice.measures.length + considered.choice.dimensions.length > 0;
    if (hasMembers && considered.score > (best?.score ?? 0)) best = considered;
  }
  return best?.choice ?? null;
}
