// Collects the faults that the scripts of a proof report, by family and fault.

/**
 * `damaged`: the entry cannot be read. `doubled`: two resources have the same name or the same link. `lost`: the entry
 * refers to a record that is neither stored nor deleted. These three need an operator. The others can be repaired from the
 * records.
 */
export type Fault = 'missing' | 'wrong' | 'surplus' | 'damaged' | 'doubled' | 'lost';

/** All faults of one sort in one family of keys. */
export interface Finding {
  family: string;
  fault: Fault;
  count: number;
  repaired: number;
  /** The first few resources, as `User:<id>` or `Group:<id>`: never names or addresses. */
  examples: string[];
}

/** Largest number of examples of a finding. */
const EXAMPLES = 5;
/** Number of values for each fault: family, fault, resource, `1` if repaired, digest of the entry (lua/proof.lua). */
const PARTS = 5;

export type Findings = ReturnType<typeof createFindings>;

export function createFindings() {
  const findings = new Map<string, Finding>();
  // SCAN may return an entry twice, and two families may show the same fault from both sides.
  const counted = new Set<string>();

  /** Adds the faults of one reply: PARTS texts for each. */
  function add(faults: readonly string[]): void {
    for (let at = 0; at + PARTS <= faults.length; at += PARTS) {
      const [family = '', fault = '', resource = '', repaired, entry = ''] = faults.slice(at, at + PARTS);
      if (counted.has(entry)) continue;
      counted.add(entry);
      const known = findings.get(`${family} ${fault}`);
      const finding = known ?? { family, fault: fault as Fault, count: 0, repaired: 0, examples: [] };
      finding.count++;
      if (repaired === '1') finding.repaired++;
      if (finding.examples.length < EXAMPLES && !finding.examples.includes(resource))
        finding.examples.push(resource);
      findings.set(`${family} ${fault}`, finding);
    }
  }

  return { add, all: (): Finding[] => [...findings.values()] };
}
