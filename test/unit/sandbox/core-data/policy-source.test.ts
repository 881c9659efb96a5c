// Tests how access policies of Cube's YAML are read.
import { parseModelFile } from '../../../../src/sandbox/core-data/yaml/model-source.ts';
import { readPolicies } from '../../../../src/sandbox/core-data/yaml/policy-source.ts';

test.each(['row_level: { allow_all: true }', 'rowLevel: { allowAll: true }'])(
  'a policy with %s limits no rows',
  (rows) => {
    const faults: string[] = [];
    const text = `access_policy: [{ group: boss, ${rows} }]\n`;
    const node = parseModelFile({ name: 'a.yml', text }, faults);
    expect(node && readPolicies(node, new Set(), new Set())).toEqual([{ groups: ['boss'], filters: [] }]);
    expect(faults).toEqual([]);
  },
);
