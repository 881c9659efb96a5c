// Reports an unknown user or group: prints a message and sets exit code 4.
import type { Cli } from './cli.ts';
import { complain } from './output.ts';

const EXIT_UNKNOWN = 4;

/** Thrown when no user or group has the name or id that the operator typed. */
export class UnknownResource extends Error {
  override name = 'UnknownResource';

  constructor(text: string) {
    super(
      `No person and no group is known as ${text}: the identity provider has not pushed it. ` +
        'Say a userName, externalId, address, group name, id, or a ref such as User:<id>.',
    );
  }
}

/** Prints an UnknownResource error and sets exit code 4. @throws every other error unchanged */
export function reportUnknown(error: unknown, cli: Cli): void {
  if (!(error instanceof UnknownResource)) throw error;
  complain(error.message);
  cli.exit(EXIT_UNKNOWN);
}
