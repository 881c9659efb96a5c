// Serves the control port, which tests and demos use to change the sandbox. Loopback only, not part of the
// platform (docs/sandbox.md).
import express, { type ErrorRequestHandler, type Express, type Request } from 'express';
import { bodyOrEmpty } from './call.ts';
import { removeExpired } from './chat/external-users.ts';
import { createFixtures } from './fixtures.ts';
import { own, requireText, type SandboxJsonObject } from './json.ts';
import { SandboxProblem } from './problem.ts';
import type { ReadyLine } from './ready.ts';
import type { Secrets } from './secrets.ts';
import { changeSettings } from './settings.ts';
import { stateParts } from './state-view.ts';
import { currentStateOf, type SandboxRuntime } from './runtime.ts';

interface ControlDeps {
  readonly runtime: SandboxRuntime;
  readonly secrets: Secrets;
  /** Resets the state to a seed; throws SandboxProblem 400 for an unknown one. */
  readonly reset: (seed: string | undefined) => ReadyLine;
}

/** Answers an error with its HTTP status, 500 for an error without one. */
const refuse: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) {
    next(error);
    return;
  }
  const status =
    error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : 500;
  response.status(status).json({ error: error instanceof Error ? error.message : String(error) });
};

/** Serves `GET /state`: all parts, or the comma-separated parts of `?only=`. */
function readState(runtime: SandboxRuntime, request: Request): SandboxJsonObject {
  const only = typeof request.query['only'] === 'string' ? request.query['only'].split(',') : undefined;
  const parts = stateParts(currentStateOf(runtime));
  const unknown = only?.find((name) => !parts.has(name));
  if (unknown !== undefined) throw new SandboxProblem(400, `Unknown part of the state: ${unknown}`);
  const shown = [...parts].filter(([name]) => only === undefined || only.includes(name));
  return {
    nowMs: runtime.clock.now(),
    offsetMs: runtime.clock.offsetMs(),
    ...Object.fromEntries(shown.map(([name, make]) => [name, make()])),
  };
}

/** Largest offset of the clock, two hundred years: every date then stays well before 275760, the last year of a Date. */
const FARTHEST_MS = 200 * 366 * 86_400_000;

function advanceClock(runtime: SandboxRuntime, request: Request): SandboxJsonObject {
  const ms = own(bodyOrEmpty(request), 'advanceMs');
  if (typeof ms !== 'number' || !Number.isFinite(ms))
    throw new SandboxProblem(400, 'advanceMs must be a number');
  const wholeMs = Math.round(ms);
  if (Math.abs(runtime.clock.offsetMs() + wholeMs) > FARTHEST_MS)
    throw new SandboxProblem(400, 'advanceMs must not lead more than two hundred years away');
  runtime.clock.advance(wholeMs);
  // Removes the external users of chat whose lifetime has ended by the new time.
  removeExpired(currentStateOf(runtime));
  return { nowMs: runtime.clock.now(), offsetMs: runtime.clock.offsetMs() };
}

/** Handles `POST /branches/view`: records that a user views a branch, or with `viewing: false` no longer does. */
function viewBranch(runtime: SandboxRuntime, request: Request): SandboxJsonObject {
  const body = bodyOrEmpty(request);
  const deploymentId = String(own(body, 'deploymentId'));
  const branchName = requireText(body, 'branchName');
  const deployment = runtime.state.deployments.get(deploymentId);
  if (!deployment?.branches.some((branch) => branch.name === branchName))
    throw new SandboxProblem(404, 'Branch not found');
  const isViewed = own(body, 'viewing') !== false;
  if (isViewed) runtime.state.branchViews.add(`${deploymentId}/${branchName}`);
  else runtime.state.branchViews.delete(`${deploymentId}/${branchName}`);
  return { deploymentId, branchName, viewing: isViewed };
}

/** Revokes the API keys and OAuth tokens of this name, effective immediately (contract 1.2). */
function revoke(runtime: SandboxRuntime, name: string): SandboxJsonObject {
  const found = [...runtime.state.credentials.values()].filter((credential) => credential.name === name);
  if (found.length === 0) throw new SandboxProblem(404, `No key of the name ${name}`);
  for (const credential of found) runtime.state.credentials.delete(credential.secret);
  return { revoked: found.length };
}

/** Creates the Express application; every answer is JSON, errors are `{error}`. */
export function createControl({ runtime, secrets, reset }: ControlDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  // Every body is parsed as JSON, whatever its media type.
  app.use(express.json({ limit: '64mb', type: () => true }));
  app.use((request, response, next) => {
    // The call may have changed the state, which is then saved (`--data`).
    if (request.method !== 'GET') response.on('close', () => runtime.changed());
    next();
  });
  app.post('/reset', (request, response) => {
    const seed = own(bodyOrEmpty(request), 'seed');
    if (seed !== undefined && typeof seed !== 'string') throw new SandboxProblem(400, 'seed must be text');
    response.json(reset(seed));
  });
  app.get('/state', (request, response) => void response.json(readState(runtime, request)));
  app.post('/fixtures', (request, response) => {
    response.json(createFixtures(currentStateOf(runtime), bodyOrEmpty(request), secrets));
  });
  app.delete(
    '/api-keys/:name',
    (request, response) => void response.json(revoke(runtime, request.params.name)),
  );
  app.get('/settings', (_request, response) => void response.json(runtime.settings));
  app.patch('/settings', (request, response) => {
    runtime.settings = changeSettings(runtime.settings, bodyOrEmpty(request));
    response.json(runtime.settings);
  });
  app.get('/faults', (_request, response) => void response.json(runtime.faults.current()));
  app.patch('/faults', (request, response) => {
    runtime.faults.set(bodyOrEmpty(request));
    response.json(runtime.faults.current());
  });
  app.post('/clock', (request, response) => void response.json(advanceClock(runtime, request)));
  app.post('/branches/view', (request, response) => void response.json(viewBranch(runtime, request)));
  app.get('/requests', (_request, response) => void response.json(runtime.requests.entries()));
  app.delete('/requests', (_request, response) => {
    runtime.requests.clear();
    response.json({ cleared: true });
  });
  app.use(() => {
    throw new SandboxProblem(404, 'No such control call');
  }, refuse);
  return app;
}
