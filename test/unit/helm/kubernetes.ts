// Validates objects by the schemas of Kubernetes, and refuses unknown fields.
import ts from 'typescript';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { CronJob, Job } from 'kubernetes-models/batch/v1';
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, PersistentVolumeClaim, Pod, Secret, Service, ServiceAccount } from 'kubernetes-models/v1';
import { kindOf, type Manifest } from './chart.ts';
import { operatorFaults } from './operator-kinds.ts';

const MODELS: Record<string, new (data: any) => { validate: () => void }> = {
  'apps/v1 Deployment': Deployment,
  'autoscaling/v2 HorizontalPodAutoscaler': HorizontalPodAutoscaler,
  'batch/v1 CronJob': CronJob,
  'batch/v1 Job': Job,
  'networking.k8s.io/v1 Ingress': Ingress,
  'networking.k8s.io/v1 NetworkPolicy': NetworkPolicy,
  'policy/v1 PodDisruptionBudget': PodDisruptionBudget,
  'v1 ConfigMap': ConfigMap,
  'v1 PersistentVolumeClaim': PersistentVolumeClaim,
  'v1 Pod': Pod,
  'v1 Secret': Secret,
  'v1 Service': Service,
  'v1 ServiceAccount': ServiceAccount,
};

const isBuiltIn = (object: Manifest): boolean => Object.hasOwn(MODELS, kindOf(object));

/** @returns the fields of an object that violate the schema of its kind, with the reason */
export function schemaFaults(object: Manifest): string[] {
  const Model = MODELS[kindOf(object)];
  if (!Model) return operatorFaults(object);
  try {
    new Model(object).validate();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

const parsed = new Map<string, ts.SourceFile | undefined>();

/** Compiling the Kubernetes types takes several seconds. */
function parsedOnce(name: string, parse: () => ts.SourceFile | undefined): ts.SourceFile | undefined {
  if (!parsed.has(name)) parsed.set(name, parse());
  return parsed.get(name);
}

/**
 * Returns fields that Kubernetes would ignore or refuse, such as misspelt ones. The schemas accept them; the
 * TypeScript types of the same package do not, if the objects are written as literals.
 */
export function strictFaults(objects: Manifest[]): string[] {
  const groups = new Map<string, string[]>();
  const lines = objects.filter(isBuiltIn).map((object, index) => {
    const known = groups.get(object.apiVersion) ?? [];
    if (!known.includes(object.kind)) groups.set(object.apiVersion, [...known, object.kind]);
    return `export const object${index}: I${object.kind} = ${JSON.stringify(object)};`;
  });
  const imports = [...groups].map(
    ([group, kinds]) =>
      `import type { ${kinds.map((kind) => `I${kind}`).join(', ')} } from 'kubernetes-models/${group}';`,
  );
  // The file exists in memory only, in this folder so that packages are found.
  const file = `${import.meta.dirname}/objects-as-literals.ts`;
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    types: [],
  };
  const disk = ts.createCompilerHost(options);
  const text = [...imports, ...lines].join('\n');
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (name) => name === file || disk.fileExists(name),
    readFile: (name) => (name === file ? text : disk.readFile(name)),
    getSourceFile: (name, target, ...rest) =>
      name === file
        ? ts.createSourceFile(name, text, target)
        : parsedOnce(name, () => disk.getSourceFile(name, target, ...rest)),
  };
  const program = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}
