#!/usr/bin/env node
// Hands the arguments to the command line and keeps its exit code.
import { useOneArena } from './cli/one-arena.ts';

if (process.argv.includes('serve')) useOneArena(process);
const { runCli } = await import('./cli/index.ts');
process.exitCode = await runCli(process.argv.slice(2), process.env);
