// Maps a question to members of the model by the words of their names and titles. Pure and deterministic. `chooseMembers` takes the
// cube with the highest score; the score of a cube is the sum of those of its best matching measures and dimensions.
import type { CubeDocument, MemberDocument } from '../core-data/core-data.ts';

/** Granularities that a question may name. */
export const GRAINS = ['day', 'week', 'month', 'quarter', 'year'] as const;
type Grain = (typeof GRAINS)[number];

/** Selected members of one cube or view. `grain` is the granularity of the time dimension among `dimensions`. */
export interface Choice {
  readonly cube: CubeDocument;
  readonly measures: readonly MemberDocument[];
  readonly dimensions: readonly MemberDocument[];
  readonly grain: Grain | null;
  /** Number of rows with the largest first measure, when the question asks for the top ones. */
  readonly top: number | null;
}

/** Words in names that do not distinguish members, in singular form. */
const FILLERS = new Set(['at', 'id', 'of', 'the', 'number', 'by', 'in', 'on']);
/** Words of a question for an aggregation, by the measure's `aggType`. */
const AGGREGATION_WORDS: Readonly<Record<string, readonly string[]>> = {
  count: ['count', 'many', 'number'],
  countDistinct: ['distinct', 'unique'],
  sum: ['sum', 'total', 'revenue', 'turnover'],
  avg: ['average', 'mean', 'avg'],
  max: ['max', 'maximum', 'highest', 'largest'],
  min: ['min', 'minimum', 'lowest', 'smallest'],
};
const MAX_MEASURES = 4;
const MAX_DIMENSIONS = 4;

/** Returns the best selection among the visible cubes, or null when the question names neither a cube nor a member. */
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

/**
 * Returns the best selection within one cube. The score is 0 when the question names neither the cube nor one of
 * its members: a user who may not see `orders` must not get the count of another cube for "how many orders".
 */
function considerCube(cube: CubeDocument, question: string): { choice: Choice; score: number } {
  const asked = new Set(wordsOf(question));
  const score = (member: MemberDocument): Scored => scoreMember(member, question, asked);
  const measures = bestMatches(cube.measures.map(score), MAX_MEASURES);
  const dimensions = bestMatches(cube.dimensions.map(score), MAX_DIMENSIONS);
  const grain = GRAINS.find((name) => asked.has(name)) ?? null;
  const time = grain ? timeDimension(cube, membersOf(dimensions)) : undefined;
  const chosen = [...new Set([...membersOf(dimensions), ...(time ? [time] : [])])];
  const isCubeNamed = likeness([cube.name, cube.title], subjectOf(question)) === 1;
  const isMeant = isCubeNamed || [...measures, ...dimensions].some(({ isNamed }) => isNamed);
  const [, top] = /\btop (\d{1,3})\b/.exec(question) ?? [];
  return {
    // A named cube outweighs one matching member of another cube.
    score: isMeant ? sum(measures) + sum(dimensions) + (isCubeNamed ? 1.5 : 0) : 0,
    choice: {
      cube,
      measures: measures.length > 0 ? membersOf(measures) : defaultMeasures(cube, asked),
      dimensions: chosen,
      grain: time ? grain : null,
      top: top === undefined || Number(top) === 0 ? null : Number(top),
    },
  };
}

/** Returns the words before "by", "per" or "each"; only these can name a cube. */
function subjectOf(question: string): Set<string> {
  return new Set(wordsOf(question.split(/\b(?:by|per|each)\b/)[0] ?? ''));
}

function scoreMember(member: MemberDocument, question: string, asked: ReadonlySet<string>): Scored {
  // A full name scores as two full matches. A word for the aggregation gives at least 0.5, and 0.25 more to decide
  // between equal members.
  if (question.includes(member.name.toLowerCase())) return { member, isNamed: true, score: 2 };
  const byName = likeness([shortName(member), member.shortTitle], asked);
  const meant = (AGGREGATION_WORDS[member.aggType ?? ''] ?? []).some((word) => asked.has(word));
  return { member, isNamed: byName === 1, score: meant ? Math.max(byName, 0.5) + 0.25 : byName };
}

interface Scored {
  readonly member: MemberDocument;
  /** True when the question contains the member's name or title, not only a word for its aggregation. */
  readonly isNamed: boolean;
  readonly score: number;
}

/** Returns the largest share (0 to 1) of a text's words that are in `asked`, without FILLERS. */
function likeness(texts: readonly string[], asked: ReadonlySet<string>): number {
  const shares = texts.map((text) => {
    const words = wordsOf(text).filter((word) => !FILLERS.has(word));
    return words.length === 0 ? 0 : words.filter((word) => asked.has(word)).length / words.length;
  });
  return Math.max(0, ...shares);
}

/**
 * Returns at most `most` members: those with a full match (score 1 or more), else those with the best partial match
 * of at least 0.5.
 */
function bestMatches(scored: readonly Scored[], most: number): Scored[] {
  const full = scored.filter(({ score }) => score >= 1);
  if (full.length > 0) return full.slice(0, most);
  const best = Math.max(0.5, ...scored.map(({ score }) => score));
  return scored.filter(({ score }) => score === best).slice(0, most);
}

const sum = (scored: readonly Scored[]): number => scored.reduce((total, { score }) => total + score, 0);
const membersOf = (scored: readonly Scored[]): MemberDocument[] => scored.map(({ member }) => member);

/** Returns the time dimension that a granularity applies to: a named one, else the first of the cube. */
function timeDimension(cube: CubeDocument, named: readonly MemberDocument[]): MemberDocument | undefined {
  return [...named, ...cube.dimensions].find(({ type }) => type === 'time');
}

/** Returns the measures for a question that names none: the count (else the first measure); no measure if it asks for rows. */
function defaultMeasures(cube: CubeDocument, asked: ReadonlySet<string>): MemberDocument[] {
  if (['list', 'show', 'rows', 'row', 'record'].some((word) => asked.has(word))) return [];
  const counting = cube.measures.find(({ aggType }) => aggType === 'count') ?? cube.measures[0];
  return counting ? [counting] : [];
}

/** Returns `count` for the member `orders.count`. */
export function shortName(member: MemberDocument): string {
  return member.name.slice(member.name.lastIndexOf('.') + 1);
}

/** Returns the lower-case words in singular form; underscores and camel case separate words. */
function wordsOf(text: string): string[] {
  const parted = text.replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2').toLowerCase();
  return (parted.match(/[\p{L}\d]+/gu) ?? []).map(singular);
}

function singular(word: string): string {
  if (/(ss|us|is)$/.test(word) || word.length < 4) return word;
  if (/ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(ses|xes|ches|shes)$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') ? word.slice(0, -1) : word;
}
