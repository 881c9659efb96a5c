// Converts selected members to SQL over the model and to a chart specification (contract 6.6). Pure functions;
// the chart contains no data.
import type { MemberDocument } from '../core-data/core-data.ts';
import { shortName, type Choice } from './question.ts';

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function columnOf(choice: Choice, member: MemberDocument): string {
  const path = `${quoted(choice.cube.name)}.${quoted(shortName(member))}`;
  const isTruncated = choice.grain !== null && member.type === 'time';
  return `${isTruncated ? `DATE_TRUNC('${choice.grain}', ${path})` : path} AS ${quoted(shortName(member))}`;
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
  // GROUP BY and ORDER BY name columns by their positions; the dimensions come first.
  const positions = dimensions.map((_, index) => index + 1);
  const isGrouped = positions.length > 0 && measures.length > 0;
  const isTop = top !== null && measures.length > 0;
  const order = (isTop ? [`${positions.length + 1} DESC`, ...positions] : positions).join(', ');
  return [
    `SELECT ${parts.join(', ')} FROM ${quoted(cube.name)}`,
    ...(isGrouped ? [`GROUP BY ${positions.join(', ')}`] : []),
    ...(order === '' ? [] : [`ORDER BY ${order}`]),
    ...(top === null ? [] : [`LIMIT ${top}`]),
  ].join(' ');
}

/** Returns a title such as "Orders Count by Country". */
export function titleOf({ cube, dimensions, measures, grain }: Choice): string {
  const named = (members: readonly MemberDocument[]): string =>
    members.map(({ shortTitle }) => shortTitle).join(', ');
  let title = cube.title;
  if (measures.length > 0) title += ` ${named(measures)}`;
  if (dimensions.length > 0) title += `${measures.length > 0 ? ' by ' : ': '}${named(dimensions)}`;
  return grain ? `${title} per ${grain}` : title;
}

/** Encoding channel of Vega-Lite: the column that gives one axis or the colour. */
interface Channel {
  readonly field: string;
  readonly type: 'nominal' | 'quantitative' | 'temporal';
  readonly title: string;
}

const channelOf = (member: MemberDocument, type: Channel['type']): Channel => ({
  field: shortName(member),
  type,
  title: member.shortTitle,
});
const dimensionChannel = (member: MemberDocument): Channel =>
  channelOf(member, member.type === 'time' ? 'temporal' : 'nominal');

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
      x: dimensionChannel(first),
      y: channelOf(measure, 'quantitative'),
      ...(second ? { color: dimensionChannel(second) } : {}),
    },
  });
}
