// Replaces secrets of the settings when their files change, so that a rotation needs no restart. No other file changes the
// settings object. Readers take a secret from the object at each use; parts that keep a copy of it are told by `onChange`.
import { readFile } from 'node:fs/promises';
import { startRounds } from '../support/rounds.ts';
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import { firstPerPath } from './faults.ts';
import { select, setAt, toKeys } from './places.ts';
import type { Config } from './schema.ts';
import { checkAddresses } from './address-checks.ts';
import { checkNotices } from './notice-checks.ts';
import { checkSecrets, repeatedSecrets } from './secrets.ts';
import { errorCode } from './settings-file.ts';
import { withoutLineEnd, type FileText } from './substitute.ts';

/**
 * Pause between two reads of the files. They are not watched, because Kubernetes replaces a mounted Secret by changing a
 * symbolic link, which some file watchers do not notice.
 */
const POLL_MS = 2000;

/** A secret as its file has it now. */
interface Secret {
  /** JSON pointer of the setting. */
  path: string;
  value: string;
}

/**
 * Starts to read the files periodically.
 * @param onChange called after secrets have changed
 * @returns `look`, which reads the files at once, and `stop`
 */
export function watchSecretFiles(
  deps: { clock: Clock; logger: Logger },
  config: Config,
  onChange: () => void,
) {
  const { clock, logger } = deps;
  /** Path of a setting → the problem that was logged last. */
  const reported = new Map<string, string>();

  /** Logs each problem once. The previous secret stays valid. */
  function report(path: string, problem: string): void {
    if (reported.get(path) !== problem) logger.error({ path, problem }, 'changed secret cannot be used');
    reported.set(path, problem);
  }

  /** Reads the present value of a setting; undefined when a file cannot be read, which is logged. */
  async function read({ path, parts }: FileText): Promise<Secret | undefined> {
    try {
      return { path, value: (await Promise.all(parts.map(textOf))).join('') };
    } catch (error) {
      report(path, `The file cannot be read (${errorCode(error)}).`);
      return undefined;
    }
  }

  /** Logs the changed secrets that have a fault, and returns the others. */
  function withoutFaulty(changed: readonly Secret[]): readonly Secret[] {
    const faults = faultsWith(config, changed);
    const usable = changed.filter(({ path }) => !faults.has(path));
    if (usable.length === changed.length) return changed;
    for (const { path } of changed) {
      const problem = faults.get(path);
      if (problem !== undefined) report(path, problem);
    }
    // Checked again: a setting whose new secret is faulty keeps its former one, which may now be the new secret of another setting.
    return withoutFaulty(usable);
  }

  /** Reads all files now. @returns whether a secret has changed */
  async function look(): Promise<boolean> {
    const found = (await Promise.all(config.secretFiles.map(read))).flatMap((each) => each ?? []);
    const changed = found.filter(({ path, value }) => valueAt(config, path) !== value);
    for (const { path } of found) if (!changed.some((each) => each.path === path)) reported.delete(path);
    if (changed.length === 0) return false;
    const usable = withoutFaulty(changed);
    for (const { path, value } of usable) {
      setAt(config, toKeys(path), value);
      reported.delete(path);
      logger.info({ path }, 'secret taken over from its file');
    }
    if (usable.length > 0) onChange();
    return usable.length > 0;
  }

  const round = async (): Promise<number> => {
    await look();
    return POLL_MS;
  };
  return { look, stop: startRounds(clock, round, POLL_MS) };
}

/** Returns the faults by path that the settings would have with the changed secrets. */
function faultsWith(config: Config, changed: readonly Secret[]): Map<string, string> {
  const { server, connections, targets, notices, backup } = config;
  const proposed = structuredClone({ server, connections, targets, notices, backup });
  for (const { path, value } of changed) setAt(proposed, toKeys(path), value);
  // Of two settings with the same secret, the changed one is at fault, as the settings in use have no faults. It may be `path` or
  // `other`, so a fault is listed for both; the caller looks at changed settings only.
  const others = repeatedSecrets(proposed).map(({ path, other }) => ({
    path: other,
    message: `The same secret is used at ${path}.`,
  }));
  const faults = firstPerPath([
    ...checkSecrets(proposed),
    ...others,
    ...checkAddresses(proposed),
    ...checkNotices(proposed),
  ]);
  return new Map(faults.map(({ path, message }) => [path, message]));
}

const textOf = async (part: string | { file: string }): Promise<string> =>
  typeof part === 'string' ? part : withoutLineEnd(await readFile(part.file, 'utf8'));

/** Returns the value at a JSON pointer, whose keys need no escapes: names in the settings have neither `/` nor `~`. */
const valueAt = (config: Config, path: string): unknown => select(config, path.slice(1))[0]?.value;
