// Which data model a deployment serves.
import type { Deployment } from '../records.ts';
import type { Model } from './model.ts';
import { OPS_MODEL } from './ops-model.ts';
import { SALES_MODEL } from './sales-model.ts';

const MODELS: ReadonlyMap<string, Model> = new Map(
  [SALES_MODEL, OPS_MODEL].map((model) => [model.name, model]),
);

/** The model of the deployment's own name if there is one, else sales: a deployment always has something to ask. */
export function modelOf(deployment: Deployment): Model {
  return MODELS.get(deployment.name) ?? SALES_MODEL;
}
