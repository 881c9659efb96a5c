// Exports links to a file and imports them from it. The file is NDJSON: each line is one link, as scim-bridge links list --json
// has it.
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { type Imported, importLinks } from '../ops/links/import-links.ts';
import { type LinkRow, type LinkSources, listLinks } from '../ops/links/link-rows.ts';
import { visible } from '../support/visible.ts';
import { readConfig, type Cli } from './cli.ts';
import { actorOf, type OperatorFlags } from './operator.ts';
import { complain, say, sayJson } from './output.ts';
import { unreadable, writePrivately } from './private-file.ts';
import { withScopes } from './scopes.ts';

export interface ImportFlags extends OperatorFlags {
  dryRun?: boolean;
  json?: boolean;
}

/** Writes the links that the filter selects to a new file, or to standard output. @returns the number of links */
export async function exportTo(
  sources: LinkSources,
  filter: Parameters<typeof listLinks>[1],
  file: string | undefined,
): Promise<number> {
  async function exportRows(write: (row: LinkRow) => unknown): Promise<number> {
    let count = 0;
    for await (const row of listLinks(sources, filter)) {
      // A link without platform id cannot be imported.
      if (row.platformId === null) continue;
      count++;
      await write(row);
    }
    return count;
  }
  if (file === undefined) return exportRows(sayJson);
  return writePrivately(file, { overwrite: undefined }, (out) =>
    exportRows((row) => out.writeFile(`${visible(JSON.stringify(row))}\n`)),
  );
}

/** Links resources as the lines of a file say. Each line that is not taken is named with the reason; the exit code is 1 then. */
export async function importFrom(
  file: string,
  flags: ImportFlags,
  command: Command,
  cli: Cli,
): Promise<void> {
  const counts: Partial<Record<Imported, number>> = {};
  const given = { mayWrite: !flags.dryRun };
  await withScopes(readConfig(command, cli), given, async ({ scopes, signal }) => {
    const all = scopes.map(({ scope }) => scope);
    const options = {
      ...actorOf(cli, flags),
      dryRun: flags.dryRun ?? false,
      signal,
      tell: (connection: string, target: string, waiting: string) =>
        complain(`${connection} → ${target}: ${waiting}`),
    };
    let number = 0;
    async function* rows(): AsyncGenerator<unknown> {
      const input = createReadStream(file);
      // Without this wait, the stream would emit the error of a missing file without a listener, which ends the process.
      await once(input, 'open').catch((error: NodeJS.ErrnoException) => {
        throw unreadable(file, error);
      });
      for await (const text of createInterface({ input, crlfDelay: Infinity })) {
        number++;
        if (text.trim() !== '') yield parsed(text);
      }
    }
    try {
      for await (const { outcome, why } of importLinks(all, rows(), options)) {
        counts[outcome] = (counts[outcome] ?? 0) + 1;
        if (why !== undefined) complain(`line ${number}: ${outcome}: ${why}`);
      }
    } catch (error) {
      if (number > 0) {
        tellCounts(counts, flags);
        complain(
          `The import ended at line ${number}. Import the file again: what is linked already stays so.`,
        );
      }
      throw error;
    }
  });
  tellCounts(counts, flags);
  const isTaken = (outcome: string): boolean => outcome === 'imported' || outcome === 'unchanged';
  if (!Object.keys(counts).every(isTaken)) cli.exit(1);
}

function tellCounts(counts: Partial<Record<Imported, number>>, { dryRun = false, json }: ImportFlags): void {
  const { imported = 0, unchanged = 0 } = counts;
  if (json) sayJson({ dryRun, counts });
  else say(`${imported} ${dryRun ? 'would be linked' : 'linked'}, ${unchanged} as they were.`);
}

/** Returns the JSON value of a line; undefined: it is no JSON, which the import reports. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
