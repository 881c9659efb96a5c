// Replaces secrets of the settings when their files change, so that a rotation needs no restart. No other file changes the
// settings object. Readers take a secret from the object at each use; others are told by `onChange`.
import { readFile } from 'node:fs/promises';
import type { Clock } from '../support/sources.ts';
import type { Logger } from '../support/logger.ts';
import { select, setAt, toKeys } from './places.ts';
import type { Config } from './schema.ts';
import { checkNotices } from './notice-checks.ts';
import { checkSecrets } from './secrets.ts';
import { errorCode } from './settings-file.ts';
import { withoutLineEnd, type FileText } from './substitute.ts';

/**
 * Pause between two reads of the files. They are not watched, because Kubernetes replaces a mounted Secret by changing a
 * symbolic link, which some file watchers do not notice.
 */
const POLL_MS = 2000;

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
  const stopping = new AbortController();
  /** Path of a setting → the problem that was logged last. */
  const reported = new Map<string, string>();

  /** Logs each problem once. The previous secret stays valid. */
  function report(path: string, problem: string): void {
    if (reported.get(path) !== problem) logger.error({ path, problem }, 'changed secret cannot be used');
    reported.set(path, problem);
  }

  /** Reads the present value of a setting; undefined when a file cannot be read, which is logged. */
  async function read({ path, parts }: FileText): Promise<{ path: string; value: string } | undefined> {
    try {
      return { path, value: (await Promise.all(parts.map(textOf))).join('') };
    } catch (error) {
      report(path, `The file cannot be read (${errorCode(error)}).`);
      return undefined;
    }
  }

  /** Reads all files now. @returns whether a secret has changed */
  async function look(): Promise<boolean> {
    const found = (await Promise.all(config.secretFiles.map(read))).flatMap((each) => each ?? []);
    const changed = found.filter(({ path, value }) => valueAt(config, path) !== value);
    for (const { path } of found) if (!changed.some((each) => each.path === path)) reported.delete(path);
    if (changed.length === 0) return false;
    const { server, connections, targets, notices } = config;
    const proposed = structuredClone({ server, connections, targets, notices });
    for (const { path, value } of changed) setAt(proposed, toKeys(path), value);
    const faults = new Map(
      [...checkSecrets(proposed), ...checkNotices(proposed)].map(({ path, message }) => [path, message]),
    );
    const usable = changed.filter(({ path }) => !faults.has(path));
    for (const { path } of changed) if (faults.has(path)) report(path, faults.get(path) ?? '');
    for (const { path, value } of usable) {
      setAt(config, toKeys(path), value);
      reported.delete(path);
      logger.info({ path }, 'secret taken over from its file');
    }
    if (usable.length > 0) onChange();
    return usable.length > 0;
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(POLL_MS, stopping.signal);
      if (!stopping.signal.aborted) await look();
    }
  }

  const watching = config.secretFiles.length > 0 ? watch() : Promise.resolve();
  return {
    look,
    stop: async (): Promise<void> => {
      stopping.abort();
      await watching;
    },
  };
}

const textOf = async (part: string | { file: string }): Promise<string> =>
  typeof part === 'string' ? part : withoutLineEnd(await readFile(part.file, 'utf8'));

/** Returns the value at a JSON pointer, whose keys need no escapes: names in the settings have neither `/` nor `~`. */
const valueAt = (config: Config, path: string): unknown => select(config, path.slice(1))[0]?.value;
