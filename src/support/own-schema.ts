// Options of ajv for the JSON Schemas that this project contains or builds.

/**
 * Leaves the check by the meta-schema of JSON Schema out, which takes longer than everything else that ajv does at the start of
 * a command. Tests check the schemas by it (test/unit/support/own-schema.test.ts).
 */
export const OWN_SCHEMA = { meta: false, validateSchema: false } as const;
