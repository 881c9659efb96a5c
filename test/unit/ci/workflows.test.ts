// Tests the pipelines: each step calls a script of this repository, actions are pinned, permissions are minimal.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validate } from 'node-cron';
import { parse } from 'yaml';
import {
  expressionsIn,
  needsOf,
  unknownReferences,
  type Workflow,
  type WorkflowStep,
} from './workflow-expressions.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FOLDER = join(ROOT, '.github/workflows');
const names = readdirSync(FOLDER);
const textOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');
const workflowOf = (name: string): Workflow => parse(textOf(name)) as Workflow;
const jobsOf = (name: string) => Object.entries(workflowOf(name).jobs);
const stepsOf = (name: string): WorkflowStep[] => jobsOf(name).flatMap(([, { steps = [] }]) => steps);

/** Matches a step that is one call of a script with plain arguments. */
const CALL = /^(bash|node) (\.ci\/[\w./-]+)((?: --?[\w-]+)*)$/;
const scripts = [
  ...new Set(names.flatMap(stepsOf).flatMap(({ run }) => (run ? [CALL.exec(run)?.[2] ?? run] : []))),
].sort();

/** Permissions that a job may have beside reading the code. */
const RIGHTS: Record<string, Record<string, string>> = {
  'release.yml image': { packages: 'write', 'id-token': 'write' },
  'release.yml chart': { packages: 'write', 'id-token': 'write' },
  'release.yml packages': { 'id-token': 'write' },
  'release.yml notes': { contents: 'write' },
  'updates.yml propose': { contents: 'write', 'pull-requests': 'write' },
};

test('the repository has exactly the workflows ci.yml, release.yml and updates.yml', () => {
  expect(names.sort()).toEqual(['ci.yml', 'release.yml', 'updates.yml']);
});

describe.each(names)('the pipeline %s', (name) => {
  const workflow = workflowOf(name);

  test('each step of a workflow runs a script of this repository, or an action pinned to a commit', () => {
    const lines = textOf(name).split('\n');
    for (const { run, uses } of stepsOf(name)) {
      expect([run, uses].filter((each) => each !== undefined)).toHaveLength(1);
      if (run !== undefined) {
        expect(run).toMatch(CALL);
        expect([run, existsSync(join(ROOT, CALL.exec(run)?.[2] ?? ''))]).toEqual([run, true]);
      } else {
        expect(uses).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
        const line = lines.find((each) => each.includes(uses ?? 'none'));
        expect(line).toMatch(/ # v\d+\.\d+\.\d+$/);
      }
    }
  });

  test('each job has only the permissions that it needs', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    for (const [job, { permissions }] of jobsOf(name)) {
      const rights = RIGHTS[`${name} ${job}`];
      if (rights === undefined) expect(permissions ?? { contents: 'read' }).toEqual({ contents: 'read' });
      else expect(permissions).toEqual({ contents: 'read', ...rights });
    }
    const keeping = stepsOf(name).filter((step) => step.with?.['persist-credentials'] === true);
    expect(keeping).toHaveLength(name === 'updates.yml' ? 1 : 0);
    const checkouts = stepsOf(name).filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    for (const step of checkouts) expect(step.with).toHaveProperty('persist-credentials');
    expect(textOf(name)).not.toMatch(/\bsecrets\b|pull_request_target|workflow_run/);
  });

  test('every job of a workflow has a runner and a time limit, and needs only existing jobs, without a cycle', () => {
    const done = new Set<string>();
    const open = new Map(jobsOf(name));
    while (open.size > 0) {
      const ready = [...open].filter(([, job]) => needsOf(job).every((each) => done.has(each)));
      expect(ready).not.toEqual([]);
      for (const [job] of ready) {
        done.add(job);
        open.delete(job);
      }
    }
    for (const [job, { uses, steps, ...settings }] of jobsOf(name)) {
      if (uses === undefined) {
        expect([job, settings['runs-on'], steps?.length]).toEqual([job, 'ubuntu-24.04', expect.any(Number)]);
        expect(settings['timeout-minutes']).toBeLessThanOrEqual(120);
      } else {
        const called = /^\.\/\.github\/workflows\/([\w-]+\.yml)$/.exec(uses)?.[1] ?? '';
        expect(workflowOf(called).on).toHaveProperty('workflow_call');
      }
    }
    expect(workflow.concurrency.group).toEqual(expect.any(String));
  });

  test('the expressions of a workflow name known contexts, and no shell command contains an expression', () => {
    const { jobs, ...head } = workflow;
    const faults = [
      ...expressionsIn(head).flatMap((each) => unknownReferences(each, workflow)),
      ...Object.values(jobs).flatMap((job) =>
        expressionsIn(job).flatMap((each) => unknownReferences(each, workflow, job)),
      ),
    ];
    expect(faults).toEqual([]);
    for (const { run = '' } of stepsOf(name)) expect(run).not.toContain('${{');
  });

  test("outputs of a workflow's jobs are set by the scripts of their steps, and its schedules are valid", () => {
    for (const [, { outputs = {}, steps = [] }] of jobsOf(name))
      for (const [output, value] of Object.entries(outputs)) {
        const id = /steps\.([\w-]+)\.outputs\.([\w-]+)/.exec(value);
        expect(id?.[2]).toBe(output);
        const script = CALL.exec(steps.find((step) => step.id === id?.[1])?.run ?? '')?.[2] ?? '';
        expect(readFileSync(join(ROOT, script), 'utf8')).toContain(`output ${output} `);
      }
    const schedule = (workflow.on.schedule ?? []) as { cron: string }[];
    for (const { cron } of schedule) {
      expect(validate(cron)).toBe(true);
      // Sunday is 0 at the forge, never 7.
      expect(cron.split(' ')[4]).toMatch(/^[0-6,*-]+$/);
    }
  });
});

test('the check of workflow expressions reports references to unknown jobs, outputs, steps and contexts', () => {
  const workflow = workflowOf('release.yml');
  const { notes } = workflow.jobs;
  for (const text of [
    'needs.tag.outputs.digest',
    'needs.image.outputs.size',
    'github.tokn',
    'matrix.node',
    'steps.x.outputs.y',
  ])
    expect([text, unknownReferences(text, workflow, notes)]).toEqual([text, [text]]);
  expect(unknownReferences("github.event_name == 'push'", workflow, notes)).toEqual([]);
  expect(expressionsIn({ env: { A: '${{ github.sha' } })).toEqual(['not closed: ${{ github.sha']);
});

test('the pipeline runs the tests on each supported version of Node.js', () => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  expect(workflowOf('ci.yml').jobs.test?.strategy?.matrix.node).toEqual([20, 22, 24]);
  expect(engines.node).toBe('>=20.19.0');
});

test.each(scripts)('the pipeline script %s has no syntax error', (script) => {
  const [command, check] = /\.mjs$/.test(script) ? [process.execPath, '--check'] : ['bash', '-n'];
  const { status, stderr } = spawnSync(command, [check, script], { cwd: ROOT, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});

describe('the dry run of a pipeline', () => {
  const dryRun = (script: string, env: Record<string, string> = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-ci-'));
    const outputs = join(folder, 'outputs');
    writeFileSync(outputs, '');
    const pipeline = {
      GITHUB_OUTPUT: outputs,
      GITHUB_REPOSITORY: 'Acme/scim-bridge',
      GITHUB_REPOSITORY_OWNER: 'Acme',
      GITHUB_SHA: '3fdcfea',
      GITHUB_REF_NAME: 'v1.0.0',
      DRY_RUN: '1',
    };
    const { status, stdout, stderr } = spawnSync('bash', [script], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, ...pipeline, ...env },
    });
    const written = readFileSync(outputs, 'utf8');
    rmSync(folder, { recursive: true });
    return { status, text: stdout, errors: stderr, written };
  };

  test.each(scripts.filter((script) => script.endsWith('.sh')))(
    'a dry run of the pipeline script %s exits 0 and prints the commands that it would run',
    (script) => {
      const digests = { IMAGE_DIGEST: 'sha256:aa', CHART_DIGEST: 'sha256:bb' };
      const { status, text, errors } = dryRun(script, digests);
      expect([status, errors]).toEqual([0, '']);
      expect(text).toMatch(/^\+ /m);
    },
  );

  test('a dry run builds the image for both architectures with SBOM and provenance, and signs its digest', () => {
    const { text, written } = dryRun('.ci/image/publish.sh');
    const build = text.split('\n').find((line) => line.startsWith('+ docker buildx build'));
    for (const words of [
      ...['--platform linux/amd64,linux/arm64', '--sbom=true', '--provenance=mode=max', '--push'],
      ...['REVISION=3fdcfea', '--tag ghcr.io/acme/scim-bridge:'],
    ])
      expect(build).toContain(words);
    expect(text).toMatch(/^\+ cosign sign --yes --recursive ghcr\.io\/acme\/scim-bridge@sha256:/m);
    expect(written).toMatch(/^digest=sha256:[0-9a-f]{64}\n$/);
  });

  test.each([
    { tags: [], image: [':1.0 ', ':1 '], npm: 'latest', mark: '--latest ' },
    { tags: ['v1.0.1'], image: [], npm: 'patch-1.0', mark: '--latest=false ' },
    { tags: ['v1.1.0'], image: [':1.0 '], npm: 'patch-1.0', mark: '--latest=false ' },
    { tags: ['v1.0.9-rc.1', 'v0.9.9'], image: [':1.0 ', ':1 '], npm: 'latest', mark: '--latest ' },
    { tags: ['v2.0.0'], image: [':1.0 ', ':1 '], npm: 'patch-1.0', mark: '--latest=false ' },
  ])(
    'release 1.0.0 beside the tags $tags moves the image tags :1.0 and :1, the npm tag latest and the latest mark only if no newer version has them',
    (given) => {
      const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-tags-'));
      const git = (...args: string[]) => {
        const as = ['-c', 'user.name=ci', '-c', 'user.email=ci@example.com'];
        expect(spawnSync('git', [...as, ...args], { cwd: folder }).status).toBe(0);
      };
      git('init', '--quiet');
      git('commit', '--quiet', '--allow-empty', '--message', 'first');
      for (const tag of given.tags) git('tag', tag);
      const env = {
        GIT_DIR: join(folder, '.git'),
        IMAGE_DIGEST: 'sha256:aa',
        CHART_DIGEST: 'sha256:bb',
      };
      const lineOf = (script: string, start: string) =>
        `${dryRun(script, env)
          .text.split('\n')
          .find((line) => line.startsWith(start))} `;
      const build = lineOf('.ci/image/publish.sh', '+ docker buildx build');
      for (const tag of [':1.0 ', ':1 ']) expect(build.includes(tag)).toBe(given.image.includes(tag));
      expect(lineOf('.ci/release/publish-packages.sh', '+ npm publish')).toContain(` --tag ${given.npm} `);
      expect(lineOf('.ci/release/publish-release.sh', '+ gh release create')).toContain(given.mark);
      rmSync(folder, { recursive: true });
    },
  );

  test('a pipeline script whose tool is missing exits 69 and says in one sentence what it needs', () => {
    const { status, stderr } = spawnSync('bash', ['.ci/chart/kind.sh'], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, KEEP: '1', DRY_RUN: '' },
    });
    const hasKind = spawnSync('kind', ['version']).status === 0;
    if (!hasKind) expect([status, stderr]).toEqual([69, expect.stringMatching(/needs (a running )?\w+/)]);
  });
});

test('dependency updates keep the major version of each package, and update the digest of the base image', async () => {
  const load = (file: string): Promise<any> => import(join(ROOT, '.ci/updates', file));
  const { updated } = await load('packages.mjs');
  const manifest = {
    dependencies: { undici: '7.30.2', express: '5.3.0' },
    devDependencies: { jest: '30.5.2' },
  };
  const outdated = { undici: { latest: '7.31.0' }, jest: { latest: '31.0.0' }, other: { latest: '2.0.0' } };
  expect(updated(manifest, outdated)).toEqual({
    manifest: { dependencies: { undici: '7.31.0', express: '5.3.0' }, devDependencies: { jest: '30.5.2' } },
    lines: ['undici 7.30.2 → 7.31.0', 'jest 30.5.2 → 31.0.0: another major version, left as it is'],
  });
  const { withDigest } = await load('base-image.mjs');
  const digest = `sha256:${'a'.repeat(64)}`;
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  expect(withDigest(dockerfile, digest)).toContain(`-slim@${digest}\n`);
});
