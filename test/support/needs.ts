// Defines tests that need a tool or an environment variable; without it they are skipped, and their name says why.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** `.ci/test-tools.mjs` installs tools there that the machine lacks. */
const OWN_TOOLS = join(import.meta.dirname, '../../.local/bin');

/** @returns the path of the first of these programs that exists */
export function findTool(...names: string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), OWN_TOOLS];
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** @param need text after "needs", such as "helm on PATH"; `.ci/summary.mjs` counts skipped tests by it */
export function testWith(isMet: boolean, need: string): typeof test {
  return isMet ? test : (skipping(test.skip, need) as typeof test);
}

/** @see testWith */
export function describeWith(isMet: boolean, need: string): typeof describe {
  return isMet ? describe : (skipping(describe.skip, need) as typeof describe);
}

type Declare = (name: string, body: () => void, limitMs?: number) => void;
type Skip = Declare & { each: (table: readonly unknown[]) => Declare };

function skipping(skip: unknown, need: string): unknown {
  const named =
    (declare: Declare): Declare =>
    (name, ...rest) =>
      declare(`${name} [needs ${need}]`, ...rest);
  const { each } = skip as Skip;
  return Object.assign(named(skip as Skip), { each: (table: readonly unknown[]) => named(each(table)) });
}
