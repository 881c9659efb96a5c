// Defines the command explain, which prints why a user or group is, or is not, as desired at each target.
import type { Command } from 'commander';
import type { Explanation, AttributeState, ExplanationVerdict } from '../explain/explanation.ts';
import { readConfig, type Cli } from './cli.ts';
import { withScopes } from './scopes.ts';
import { reportUnknown, UnknownResource } from './resources.ts';
import { sayJson, sayLines } from './output.ts';

interface Flags {
  target?: string;
  json?: boolean;
}

export function explainCommand(program: Command, cli: Cli): void {
  program
    .command('explain <user|group>')
    .description(
      'why this person or group is, or is not, at each target as desired; by userName, externalId, address, name, id or ref',
    )
    .option('--target <name>', 'only this target')
    .option('--json', 'print as JSON')
    .action(async (text: string, flags: Flags, command: Command) => {
      try {
        const found = await explained(text, flags, command, cli);
        if (flags.json) sayJson(found);
        else sayLines(found.flatMap((each, index) => [...(index > 0 ? [''] : []), ...render(each)]));
      } catch (error) {
        reportUnknown(error, cli);
      }
    });
}

async function explained(
  text: string,
  { target }: Flags,
  command: Command,
  cli: Cli,
): Promise<Explanation[]> {
  const config = readConfig(command, cli);
  const { explain } = await import('../explain/explain.ts');
  const found = await withScopes(config, { target, worker: false }, ({ scopes, readFleet }) =>
    explain(
      scopes.map(({ scope }) => scope),
      text,
      readFleet,
    ),
  );
  if (found.length === 0) throw new UnknownResource(text);
  return found;
}

const SIGNS: Record<ExplanationVerdict, string> = {
  asDesired: '✔',
  onItsWay: '…',
  held: '⏸',
  stopped: '⏸',
  needsPerson: '✘',
  leftAlone: '–',
  notForTarget: '–',
  differs: '≠',
  gone: '–',
};

/** Lines of text. */
export function render(found: Explanation): string[] {
  const { verdict, summary, reasons, kind, name, ref, connection, target } = found;
  return [
    `${kind} ${name}  (${ref}, ${connection} → ${target})`,
    `${SIGNS[verdict]} ${summary}`,
    ...reasons.map((reason) => `  - ${reason}`),
    ...section('Stored', storedLines(found)),
    ...section('At the target', linkLines(found)),
    ...section('Values (desired ← last applied)', found.values.map(valueLine)),
    ...section(kind === 'User' ? 'Groups' : 'Members not equal yet', membershipLines(found)),
    ...section(
      'Timeline',
      found.timeline.map(({ at, event, text }) => `${at}  ${event.padEnd(8)}  ${text}`),
    ),
  ];
}

const section = (title: string, lines: string[]): string[] =>
  lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];

function storedLines({ stored, deletedAt, inScope, nameAtTarget }: Explanation): string[] {
  if (!stored) return [`deleted at the source${deletedAt === null ? '' : ` on ${deletedAt}`}`];
  const { version, created, lastModified, active, externalId } = stored;
  return [
    `version ${version}, created ${created}, changed ${lastModified}`,
    [
      externalId === null ? '' : `externalId ${externalId}`,
      active === null ? '' : active ? 'active' : 'inactive',
      inScope ? `meant for this target as ${nameAtTarget ?? ''}` : 'not meant for this target',
    ]
      .filter(Boolean)
      .join(', '),
  ];
}

function linkLines({ link, policy, mark }: Explanation): string[] {
  const { platformId, account, origin, active, lastWrite, departed } = link;
  const lines =
    platformId === null
      ? ['nothing of it is known there']
      : [
          [
            `id ${platformId}${account === null ? '' : `, account ${account}`}`,
            origin === 'adopted' ? 'existed before' : origin === 'created' ? 'made by the bridge' : '',
            active === null ? '' : active ? 'active' : 'inactive',
            departed ? 'left by us' : '',
            lastWrite === null ? '' : `last written ${lastWrite}`,
          ]
            .filter(Boolean)
            .join(', '),
        ];
  lines.push(`policy ${policy.policy}, adopt ${policy.adopt}, leavers: ${policy.deprovision}`);
  if (mark) lines.push(`mark: generation ${mark.generation}, ${mark.state}, request ${mark.request}`);
  return lines;
}

const STATE_SIGNS: Record<AttributeState['state'], string> = {
  equal: '=',
  differs: '≠',
  unsure: '?',
  unmappable: '!',
};

function valueLine({ name, desired, applied, state, reason }: AttributeState): string {
  const shown = `${STATE_SIGNS[state]} ${name}: ${JSON.stringify(desired)}`;
  if (state === 'equal') return shown;
  return `${shown} ← ${JSON.stringify(applied)}${reason === undefined ? '' : ` (${reason})`}`;
}

function membershipLines({ memberships, members }: Explanation): string[] {
  const words = { applied: '=', toAdd: '+', toRemove: '-', notForTarget: '–' };
  const lines = memberships.map(
    ({ name, state, because }) => `${words[state]} ${name}${because === undefined ? '' : ` (${because})`}`,
  );
  if (members)
    lines.unshift(`${members.desired} desired, ${members.toAdd} to add, ${members.toRemove} to remove`);
  return lines;
}
