// Converts selected members to SQL over the model and to a chart specification (contract 6.6). Pure functions;
// the chart contains no data.
import type { MemberDocument } from '../core-data/core-data.ts';
import { shortName, type Choice } from './question.ts';

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function columnOf(choice: Choice, member: MemberDocument): string {
  const path = `${quoted(choice.cube.name)}.${quoted(shortName(member))}`;
  const isCut = choice.grain !== null && member.type === 'time';
  return `${isCut ? `DATE_TRUNC('${choice.grain}', ${path})` : path} AS ${quoted(shortName(member))}`;
}

/** Returns a query for the SQL API of Core Data; without measures it lists rows. */
export function toSql(choice: Choice): string {
  const { cube, dimensions, measures, top } = choice;
  const parts = [
    ...dimensions.map((member) => columnOf(choice, member)),
    ...measures.map(
      (member) =>
        `MEASURE(${quoted(cube.name)}.${quoted(shortName(member))}) AS ${quoted(shortName(member))}`,
    ),
  ];
  const places = dimensions.map((_, place) => place + 1);
  const isGrouped = places.length > 0 && measures.length > 0;
  const order =
    top === null || measures.length === 0
      ? places.join(', ')
      : [`${places.length + 1} DESC`, ...places].join(', ');
  return [
    `SELECT ${parts.join(', ')} FROM ${quoted(cube.name)}`,
    ...(isGrouped ? [`GROUP BY ${places.join(', ')}`] : []),
    ...(order === '' ? [] : [`ORDER BY ${order}`]),
    ...(top === null ? [] : [`LIMIT ${top}`]),
  ].join(' ');
}

/** Returns a title such as "Orders Count by Country". */
export function titleOf({ cube, dimensions, measures, grain }: Choice): string {
  const named = (members: readonly MemberDocument[]): string =>
    members.map(({ shortTitle }) => shortTitle).join(', ');
  const what = measures.length > 0 ? `${cube.title} ${named(measures)}` : cube.title;
  const by = dimensions.length > 0 ? `${measures.length > 0 ? ' by ' : ': '}${named(dimensions)}` : '';
  return `${what}${by}${grain ? ` per ${grain}` : ''}`;
}

interface Channel {
  readonly field: string;
  readonly type: 'nominal' | 'quantitative' | 'temporal';
  readonly title: string;
}

function channel(member: MemberDocument, isMeasure: boolean): Channel {
  const type = isMeasure ? 'quantitative' : member.type === 'time' ? 'temporal' : 'nominal';
  return { field: shortName(member), type, title: member.shortTitle };
}

/** Returns a Vega-Lite specification as JSON text, or undefined when there is nothing to draw. */
export function toVegaSpec(choice: Choice): string | undefined {
  const { measures, grain } = choice;
  const time = choice.dimensions.find(({ type }) => type === 'time');
  const first = time ?? choice.dimensions[0];
  const [measure] = measures;
  if (!first || !measure) return undefined;
  const second = choice.dimensions.find((member) => member !== first);
  return JSON.stringify({
    $schema: 'https://vega.github.io/schema/vega-lite/v5.json',
    title: titleOf(choice),
    mark: { type: time && grain ? 'line' : 'bar', tooltip: true },
    encoding: {
      x: channel(first, false),
      y: channel(measure, true),
      ...(second ? { color: channel(second, false) } : {}),
    },
  });
}
