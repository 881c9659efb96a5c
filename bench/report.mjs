// Prints the figures of a run as a table.
import console from 'node:console';
import Table from 'cli-table3';

const whole = (value) => (Number.isFinite(value) ? String(Math.round(value)) : '-');
const percent = (value) => (Number.isFinite(value) ? `${Math.round(value * 100)} %` : '-');
const millis = (value) => (Number.isFinite(value) ? value.toFixed(1) : '-');

/** @param {object} report figures for one directory size, as run.mjs returns them */
export function printReport({ users, role, clientLimit, rows, memory }) {
  console.log(
    `\n${users} users, role ${role}; the load generator reaches ${whole(clientLimit)} requests/s on node:http`,
  );
  const head = [
    '',
    'operation',
    'requests/s',
    'ceiling',
    'ratio',
    'cpu µs',
    'ceiling',
    'ratio',
    'busy',
    'p50 ms',
    'p99 ms',
  ];
  const table = new Table({
    head,
    style: { head: [], border: [] },
    colAligns: ['left', 'left', ...head.slice(2).map(() => 'right')],
  });
  for (const { bridge, operation, perSecond, ceiling, ratio, cpuMicros, cpuRatio, busy, p50, p99 } of rows) {
    const speed = [whole(perSecond), whole(ceiling?.perSecond), percent(ratio)];
    const cost = [whole(cpuMicros), whole(ceiling?.cpuMicros), percent(cpuRatio), percent(busy)];
    table.push([bridge, operation, ...speed, ...cost, millis(p50), millis(p99)]);
  }
  console.log(table.toString());
  for (const { bridge, main, now, peak } of memory) {
    console.log(
      `${bridge} (${main}): resident memory ${whole(now)} MB after the load, ${whole(peak)} MB at its highest`,
    );
  }
}
