// Defines the command sandbox, which runs a stand-in of the platform.
import { readFileSync } from 'node:fs';
import { InvalidArgumentError, type Command } from 'commander';
import type { SandboxOptions } from '../sandbox/server.ts';
import type { Cli } from './cli.ts';
import { complain, say, sayJson } from './output.ts';

interface SandboxFlags {
  port: number;
  controlPort: number;
  host?: string;
  seed: string;
  faults?: object;
  data?: string;
  model?: string;
  tls?: boolean;
  dataApiPath?: string;
  vendorNames?: boolean;
  chatModelUrl?: string;
  chatModel: string;
  json?: boolean;
}

/** Returns the chat model option. Its key is an environment variable, because all users of the machine can read arguments. */
function chatModelOf({
  chatModelUrl: url,
  chatModel: model,
}: SandboxFlags): Pick<SandboxOptions, 'chatModel'> {
  if (url === undefined) return {};
  const apiKey = process.env['CHAT_MODEL_KEY'];
  return { chatModel: { url, model, ...(apiKey === undefined ? {} : { apiKey }) } };
}

function toPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new InvalidArgumentError('A port is a number from 0 to 65535.');
}

/** Reads the file with scripted faults. @throws InvalidArgumentError */
function toFaults(file: string): object {
  try {
    const faults: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof faults === 'object' && faults !== null) return faults;
  } catch (error) {
    throw new InvalidArgumentError(`Not a file with JSON (${(error as Error).message}).`);
  }
  throw new InvalidArgumentError('The file has to hold a JSON object; docs/sandbox.md lists the faults.');
}

export function sandboxCommand(program: Command, cli: Cli): void {
  program
    .command('sandbox')
    .description('run the platform stand-in')
    .option('--port <port>', 'port of the platform, 0 = any', toPort, 0)
    .option('--control-port <port>', 'port for tests: state, fixtures, faults; 0 = any', toPort, 0)
    .option('--host <host>', 'address of the platform; without --tls loopback only')
    .option('--seed <seed>', 'small | large:N (N more users); used only if the data folder is empty', 'small')
    .option('--faults <file>', 'JSON file with scripted faults', toFaults)
    .option('--data <dir>', 'folder in which the state survives a restart')
    .option('--model <dir>', "folder with a data model as Cube's YAML, and CSV files with its rows")
    .option('--tls', 'serve https with a certificate of its own')
    .option('--data-api-path <path>', 'base path of the data API, such as /data-api')
    .option('--vendor-names', "the vendor's names of headers, tools and paths, not the specified ones")
    .option(
      '--chat-model-url <url>',
      'OpenAI-compatible address whose model picks measures and dimensions in chat; key in CHAT_MODEL_KEY',
    )
    .option('--chat-model <name>', 'model at that address', 'default')
    .option('--json', 'print one JSON line when ready')
    .action(async (flags: SandboxFlags) => {
      const [{ startSandbox }, { ModelFaults }] = await Promise.all([
        import('../sandbox/server.ts'),
        import('../sandbox/core-data/yaml/model-files.ts'),
      ]);
      const starting = startSandbox({
        port: flags.port,
        controlPort: flags.controlPort,
        seed: flags.seed,
        tls: flags.tls ?? false,
        vendorNames: flags.vendorNames ?? false,
        ...(flags.dataApiPath === undefined ? {} : { dataPath: flags.dataApiPath }),
        warn: (message) => complain(message),
        ...chatModelOf(flags),
        ...(flags.host === undefined ? {} : { host: flags.host }),
        ...(flags.model === undefined ? {} : { modelDir: flags.model }),
        ...(flags.data === undefined ? {} : { dataDir: flags.data }),
        ...(flags.faults === undefined ? {} : { faults: flags.faults }),
      });
      const running = await starting.catch((error: unknown) => {
        if (!(error instanceof ModelFaults)) throw error;
        complain(...error.lines);
        cli.exit(1);
      });
      if (!running) return;
      const { ready } = running;
      // Signals are handled before the ready line is printed, because a caller that reads the line may stop the process at once.
      const ended = new Promise((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
      });
      if (flags.json) sayJson(ready);
      else {
        say(`platform  ${ready.platformUrl}`);
        say(`control   ${ready.controlUrl}`);
        say(`admin key ${ready.fixtures.apiKeys.admin}`);
      }
      await ended;
      await running.stop();
      cli.exit(0);
    });
}
