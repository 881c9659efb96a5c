// Selects the data model of a deployment.
import type { DeploymentRecord } from '../records.ts';
import type { Model } from './model.ts';
import { OPS_MODEL } from './ops-model.ts';
import { SALES_MODEL } from './sales-model.ts';

const MODELS: ReadonlyMap<string, Model> = new Map(
  [SALES_MODEL, OPS_MODEL].map((model) => [model.name, model]),
);

export type ModelOf = (deployment: DeploymentRecord) => Model;

/**
 * Returns a function that selects a model: `given` for every deployment, else the model with the deployment's name,
 * or `sales`, so that all have data.
 */
export function createModels(given?: Model): ModelOf {
  return (deployment) => given ?? MODELS.get(deployment.name) ?? SALES_MODEL;
}
