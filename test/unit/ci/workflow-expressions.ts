// Checks the expressions of a workflow job against the contexts of the job, as actionlint does.

export interface WorkflowStep {
  id?: string;
  name?: string;
  uses?: string;
  run?: string;
  if?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
}

export interface WorkflowJob {
  'runs-on'?: string;
  'timeout-minutes'?: number;
  uses?: string;
  needs?: string | string[];
  if?: string;
  permissions?: Record<string, string>;
  outputs?: Record<string, string>;
  strategy?: { matrix: Record<string, unknown[]> };
  steps?: WorkflowStep[];
}

export interface Workflow {
  name: string;
  on: Record<string, any>;
  permissions: Record<string, string>;
  concurrency: { group: string; 'cancel-in-progress': unknown };
  jobs: Record<string, WorkflowJob>;
}

const GITHUB = ['actor', 'event', 'event_name', 'ref', 'ref_name', 'repository', 'sha', 'token', 'workflow'];

export const needsOf = ({ needs = [] }: WorkflowJob): string[] => [needs].flat();

/** Returns the texts of all expressions in a value: `${{ … }}`, and conditions as a whole. */
export function expressionsIn(value: unknown, key = ''): string[] {
  if (typeof value === 'string') {
    if (key === 'if') return [value];
    const found = [...value.matchAll(/\$\{\{(.*?)\}\}/gs)].map(([, text = '']) => text);
    const open = value.split('${{').length - 1;
    return open === found.length ? found : [...found, `not closed: ${value}`];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => expressionsIn(part, name));
}

/** Returns the references of an expression that do not exist. */
export function unknownReferences(expression: string, { jobs }: Workflow, job?: WorkflowJob): string[] {
  if (expression.startsWith('not closed')) return [expression];
  const references = expression.replaceAll(/'[^']*'/g, '').match(/[a-z_][\w-]*(\.[\w-]+)*/gi) ?? [];
  return references.filter((reference) => {
    const [context = '', name = '', kind, output = ''] = reference.split('.');
    if (context === 'github') return !GITHUB.includes(name);
    if (context === 'matrix') return job?.strategy?.matrix[name] === undefined;
    if (context === 'needs')
      return !(job && needsOf(job).includes(name) && kind === 'outputs' && jobs[name]?.outputs?.[output]);
    if (context === 'steps') return !job?.steps?.some(({ id }) => id === name) || kind !== 'outputs';
    return !['true', 'false', 'null'].includes(reference);
  });
}
