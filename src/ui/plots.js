// Draws one plot over time with uPlot; its lines differ by colour and dashes, and a table shows its figures.
import { h, table } from './dom.js';

/** Height of a plot in pixels; plots.css has it too. */
const HEIGHT = 150;
/** Lengths of dashes and gaps for each line of a plot, in pixels. */
const DASHES = [[], [7, 4], [2, 3], [11, 3, 2, 3], [1, 5]];
/** Colour of each tone: a property of the style sheets. */
const TONES = { plain: '--plot-plain', good: '--good', warn: '--plot-warn', bad: '--bad' };
/** Up to this number of values, points are drawn too. */
const FEW_VALUES = 12;
/** Number of rows of the table; each row has the largest values of a part of the time. */
const ROWS = 12;
/** Least age in ms of a slot (time of one value) with a rate. */
const YOUNG_MS = 10_000;
const HOUR_MS = 3_600_000;

const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
function rounded(value) {
  if (value >= 100) return Math.round(value);
  return Number(value.toFixed(value >= 10 ? 1 : 2));
}
/** Returns a value as text; `–` for none (null: not measured). */
const text = (value) => (value === null || value === undefined ? '–' : rounded(value).toLocaleString('en'));
const lastOf = (values) => values.findLast((value) => value !== null);
/** Returns the largest value; null when there is none. */
function mostOf(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(0, ...known);
}

function clockText(ms, stepMs) {
  const moment = new Date(ms);
  // A slot longer than an hour means that the plot shows a month: its axis is labelled with days, not with times.
  return stepMs > HOUR_MS
    ? moment.toLocaleDateString('en-GB', { day: '2-digit', month: 'short' })
    : moment.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

/** Creates a plot of PLOTS (trends.js). @returns `{ element, show(history, words) }`; `words` name the range: "the last hour" */
export function createPlot({ title, unit, per, hasLimit, lines }, signal) {
  // The label names the figures once they are read.
  const place = h('div', { class: 'canvas', role: 'img', 'aria-label': title });
  const values = lines.map(() => h('span', { class: 'number' }, '–'));
  const use = h('span', { class: 'soft' });
  const figures = h('div', {});
  const details = h('details', { ontoggle: () => drawTable() }, h('summary', {}, 'Figures'), figures);
  const element = h(
    'figure',
    { class: 'plot' },
    h('figcaption', {}, h('h3', {}, title), h('span', { class: 'soft' }, ` ${unit}`), use),
    place,
    h(
      'ul',
      { class: 'legend' },
      lines.map(([name, , tone = 'plain'], index) =>
        h('li', {}, sample(index, tone), name, ' ', values[index]),
      ),
    ),
    details,
  );
  let plot;
  /** The data that `show` was given last. */
  let known;

  function draw() {
    plot?.destroy();
    plot = undefined;
    if (!known || signal.aborted || place.clientWidth === 0) return;
    const options = optionsOf(lines, { width: place.clientWidth, stepMs: known.stepMs, onPoint: tell });
    plot = new globalThis.uPlot(options, [known.times, ...known.data], place);
  }
  /** Shows the values of one slot in the legend. @param index slot under the pointer; null: the newest */
  function tell(index) {
    known?.data.forEach((each, line) => {
      const shown = text(index === null ? lastOf(each) : each[index]);
      if (values[line].textContent !== shown) values[line].textContent = shown;
    });
  }
  function drawTable() {
    if (!details.open || !known) return;
    const { from, stepMs, data } = known;
    const slotsPerRow = Math.ceil(known.times.length / ROWS);
    const rows = Array.from({ length: ROWS }, (_, row) => {
      const start = from + row * slotsPerRow * stepMs;
      const parts = data.map((each) => mostOf(each.slice(row * slotsPerRow, (row + 1) * slotsPerRow)));
      return [clockText(start, stepMs), ...parts.map(text)];
    });
    figures.replaceChildren(
      table(
        `${title} ${unit}, the most in each part of the time`,
        ['From', ...lines.map(([name]) => name)],
        rows,
      ),
    );
  }

  const observer = new ResizeObserver(() => {
    if (plot) plot.setSize({ width: place.clientWidth, height: HEIGHT });
    else draw();
  });
  observer.observe(place);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', draw);
  signal.addEventListener('abort', () => {
    observer.disconnect();
    dark.removeEventListener('change', draw);
    plot?.destroy();
  });

  return {
    element,
    show(history, words) {
      const data = lines.map(([, read]) => ratesOf(read(history.series), history, per));
      // uPlot takes Unix seconds.
      const times = data[0].map((_, slot) => (history.from + slot * history.stepMs) / 1000);
      const isSame = plot && known.stepMs === history.stepMs;
      known = { times, data, from: history.from, stepMs: history.stepMs };
      if (isSame) plot.setData([times, ...data]);
      else draw();
      tell(null);
      drawTable();
      if (hasLimit)
        use.textContent = `, now ${text(lastOf(data[0]))} of at most ${history.requestsPerSecond.toLocaleString('en')}`;
      place.setAttribute('aria-label', summary(words));
    },
  };

  function summary(words) {
    const parts = lines.map(
      ([name], line) =>
        `${name} now ${text(lastOf(known.data[line]))}, at most ${text(mostOf(known.data[line]))}`,
    );
    return `${title} ${unit} in ${words}: ${parts.join('; ')}`;
  }
}

/**
 * Converts numbers of events to rates in `per` milliseconds; without `per` the values are no numbers of events and stay. A slot
 * gets null until YOUNG_MS and a quarter of the slot have passed, because its rate is not reliable before.
 */
function ratesOf(values, { from, now, stepMs }, per) {
  if (per === undefined) return values;
  return values.map((value, slot) => {
    const lengthMs = Math.min(stepMs, now - from - slot * stepMs);
    const isYoung = lengthMs < Math.max(YOUNG_MS, stepMs / 4);
    return value === null || isYoung ? null : (value * per) / lengthMs;
  });
}

function optionsOf(lines, { width, stepMs, onPoint }) {
  const axis = {
    stroke: colourOf('--soft'),
    grid: { stroke: colourOf('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  };
  return {
    width,
    height: HEIGHT,
    padding: [8, 6, 0, 0], // top, right, bottom, left, in pixels
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    // A tenth stays free above the highest value; without values the axis ends at 1.
    scales: { y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [
      {
        ...axis,
        size: 26, // height of the axis, pixels
        values: (_plot, moments) => moments.map((each) => clockText(each * 1000, stepMs)),
      },
      { ...axis, size: 46, values: (_plot, marks) => marks.map((each) => each.toLocaleString('en')) },
    ],
    series: [
      // The first series are the times.
      {},
      ...lines.map(([name, , tone = 'plain'], index) => ({
        label: name,
        stroke: colourOf(TONES[tone]),
        width: 1.75,
        dash: DASHES[index],
        spanGaps: false,
        // A line through one or two slots would hardly be visible.
        points: {
          size: 5,
          show: ({ data }, line) => data[line].filter((each) => each !== null).length <= FEW_VALUES,
        },
      })),
    ],
  };
}

const SVG = 'http://www.w3.org/2000/svg';
/** Draws a sample of a line for the legend. */
function sample(index, tone) {
  const svg = document.createElementNS(SVG, 'svg');
  const line = document.createElementNS(SVG, 'line');
  svg.setAttribute('viewBox', '0 0 30 8');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('class', `sample ${tone}`);
  for (const [name, value] of Object.entries({ x1: 0, x2: 30, y1: 4, y2: 4 })) line.setAttribute(name, value);
  if (DASHES[index].length > 0) line.setAttribute('stroke-dasharray', DASHES[index].join(' '));
  svg.append(line);
  return svg;
}
