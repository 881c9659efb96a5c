// Selects the data model of a deployment.
import type { DeploymentRecord } from '../records.ts';
import type { Model } from './model.ts';
import { OPS_MODEL } from './ops-model.ts';
import { SALES_MODEL } from './sales-model.ts';

const MODELS: ReadonlyMap<string, Model> = new Map(
  [SALES_MODEL, OPS_MODEL].map((model) => [model.name, model]),
);

/** Returns the model with the deployment's name, or `sales`, so that every deployment has data. */
export function modelOf(deployment: DeploymentRecord): Model {
  return MODELS.get(deployment.name) ?? SALES_MODEL;
}
