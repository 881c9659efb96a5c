#!/usr/bin/env node
// Runs the command line with the arguments of the process and sets its exit code.
import { watchClosedPipe } from './cli/closed-pipe.ts';
import { runCli } from './cli/index.ts';

process.exitCode = await runCli(process.argv.slice(2), process.env, watchClosedPipe(process));
