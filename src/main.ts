#!/usr/bin/env node
// Hands the arguments to the command line and keeps its exit code.
import { watchClosedPipe } from './cli/closed-pipe.ts';
import { runCli } from './cli/index.ts';

process.exitCode = await runCli(process.argv.slice(2), process.env, watchClosedPipe(process));
