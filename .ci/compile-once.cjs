// The place in which a test file runs, with a memory for compiled code: every file gets the modules of the bridge and
// its libraries anew, and reading the same text again and again would be a third of the time that their loading takes.
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

/** Name of a module → its text and what the engine made of it. One per worker process. */
const known = new Map();

function remembered(name, source) {
  const found = known.get(name);
  return found?.source === source ? found.data : undefined;
}

const { compileFunction, SourceTextModule } = vm;

// Both are looked up by jest at each module. Data that does not fit is refused by the engine, which then compiles.
vm.compileFunction = (source, parameters, options = {}) => {
  const cachedData = remembered(options.filename, source);
  if (cachedData) return compileFunction(source, parameters, { ...options, cachedData });
  const made = compileFunction(source, parameters, { ...options, produceCachedData: true });
  if (made.cachedData) known.set(options.filename, { source, data: made.cachedData });
  return made;
};

vm.SourceTextModule = class extends SourceTextModule {
  constructor(source, options = {}) {
    const cachedData = remembered(options.identifier, source);
    super(source, cachedData ? { ...options, cachedData } : options);
    if (!cachedData) known.set(options.identifier, { source, data: this.createCachedData() });
  }
};

module.exports = TestEnvironment;
