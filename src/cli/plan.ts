// plan: what differs between the desired state and the platform. It writes nothing.
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { changesIn, driftOnly, savedPieces, type Plan } from '../reconcile/plan.ts';
import { inPieces } from '../support/pieces.ts';
import { readConfig, type Cli } from './cli.ts';
import { withEstates } from './estates.ts';
import { createProgressLine } from './progress.ts';

interface PlanFlags {
  target?: string;
  json?: boolean;
  out?: string;
  driftOnly?: boolean;
  full?: boolean;
  all?: boolean;
}

const EXIT_CHANGES = 2;

export function plan(program: Command, cli: Cli): void {
  program
    .command('plan')
    .description(
      'compare everything and show what differs, without writing; with --config NEW.yaml what other settings would do',
    )
    .option('--target <name>', 'only this target')
    .option('--json', 'print as JSON')
    .option('--out <file>', 'save the plan, for scim-bridge apply')
    .option('--drift-only', 'only what was changed behind the back of the bridge')
    .option('--full', 'read the members of all groups and the attribute values of all users')
    .option('--all', 'show every change, however many')
    .action(async (flags: PlanFlags, command: Command) => {
      const plans = await makePlans(flags, command, cli);
      if (flags.out !== undefined) await write(plans, createWriteStream(flags.out, { mode: 0o600 }));
      if (flags.json) await write(plans, process.stdout);
      else await printPlans(plans, flags.all ?? false, cli);
      if (flags.out !== undefined && !flags.json)
        console.log(`\nSaved: scim-bridge apply ${flags.out} carries out exactly this.`);
      cli.exit(exitCodeOf(plans));
    });
}

/** Writes the saved form entry by entry, as fast as the other side takes it. */
async function write(plans: Plan[], to: NodeJS.WritableStream): Promise<void> {
  function* line(): Generator<string> {
    yield* savedPieces(plans);
    yield '\n';
  }
  const pieces = Readable.from(inPieces(line()), { objectMode: false });
  await (to === process.stdout ? pipeline(pieces, to, { end: false }) : pipeline(pieces, to));
}

async function makePlans(flags: PlanFlags, command: Command, cli: Cli): Promise<Plan[]> {
  const { makePlan } = await import('../reconcile/make-plan.ts');
  const options = { target: flags.target, worker: false };
  return withEstates(readConfig(command, cli), options, async ({ estates, signal, deps }) => {
    const plans: Plan[] = [];
    for (const { name, estate, readTrail } of estates) {
      const progress = createProgressLine(name);
      const made = await makePlan(estate, {
        id: deps.ids.request(),
        full: flags.full ?? false,
        signal,
        onProgress: progress.show,
        readTrail,
      }).finally(progress.end);
      plans.push(flags.driftOnly ? driftOnly(made.plan) : made.plan);
    }
    return plans;
  });
}

export async function printPlans(plans: Plan[], all: boolean, { env }: Cli): Promise<void> {
  const { renderPlan } = await import('../reconcile/render.ts');
  const colour = process.stdout.isTTY && !env.NO_COLOR;
  for (const each of plans) console.log(renderPlan(each, { all, colour }).join('\n'));
}

/** 0 nothing to change, 2 changes or somebody missing, 1 when too little could be read to say that there are none. */
function exitCodeOf(plans: Plan[]): number {
  const isMissing = ({ coverage: { users, groups } }: Plan): boolean => users.missing + groups.missing > 0;
  if (plans.some((each) => changesIn(each) > 0 || isMissing(each))) return EXIT_CHANGES;
  const isProven = plans.every(
    ({ proof, unknown }) => proof.users.complete && proof.groups.complete && unknown === 0,
  );
  return isProven ? 0 : 1;
}
