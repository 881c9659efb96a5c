// Tries an attribute mapping beside the resource of a person. Nothing is saved: the text goes into the settings file by hand.
import { get, may, post } from './api.js';
import { actionButton, bidi, count, empty, field, h, pill, say, searchInput, select, table } from './dom.js';

/** Tone and text of the label for each outcome of a value. */
const OUTCOMES = {
  value: ['good', 'is written'],
  clear: ['warn', 'is removed'],
  keep: ['calm', 'stays as it is'],
  fault: ['bad', 'fault'],
};
/** Pause after the last key before the mapping is tried, milliseconds. */
const PAUSE_MS = 500;
/** Pause before a trial is repeated that the service had no room for, milliseconds. */
const BUSY_MS = 2000;

export async function mapping({ signal }) {
  if (!may('operate'))
    return empty(
      'Needs the role operator',
      'A trial runs the rules that are written here, so viewers cannot start one.',
    );
  const { targets } = await get('/config');
  const target = select(Object.keys(targets).map((name) => [name]));
  const person = searchInput({ placeholder: 'ada@acme.example' });
  const text = h('textarea', { class: 'code', rows: 18, spellcheck: 'false', autocomplete: 'off' });
  const state = h('p', { class: 'soft', role: 'status' });
  const result = h('div', { id: 'trial' });
  const effect = h('div', { id: 'effect' });
  let timer;
  /** Number of the last change or trial; the answer to an earlier trial is ignored. */
  let asked = 0;
  /** Aborts the running trial. */
  let trial = new AbortController();

  const begin = () => {
    text.value = JSON.stringify(targets[target.value]?.attributes ?? {}, null, 2);
    effect.replaceChildren();
    later(0);
  };
  const later = (ms = PAUSE_MS) => {
    clearTimeout(timer);
    asked++;
    // The service stops a trial at once when the page closes the request.
    trial.abort();
    timer = setTimeout(attempt, ms);
  };
  /** Returns the mapping in the form. @throws Error with the place of the fault when the text is no JSON object */
  const read = () => {
    const attributes = JSON.parse(text.value);
    if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes))
      throw new Error('Write an object: { "name": { "type": "string", "from": "title" } }');
    return attributes;
  };

  async function attempt() {
    const mine = ++asked;
    let attributes;
    try {
      attributes = read();
    } catch (error) {
      state.textContent = `This is no JSON: ${error.message}`;
      return;
    }
    if (person.value.trim() === '') {
      state.textContent = 'Name a person to see the values.';
      result.replaceChildren();
      return;
    }
    state.textContent = 'Mapping…';
    try {
      const order = { target: target.value, resource: person.value.trim(), attributes };
      trial = new AbortController();
      const found = await post('/workbench/try', order, trial.signal);
      if (mine !== asked || signal.aborted) return;
      result.replaceChildren(...trialOf(found));
      const faulty = found.values.filter(({ fault }) => fault !== null).length + found.faults.length;
      state.textContent = `${count(found.values.length, 'attribute', 'attributes')} mapped, ${count(faulty, 'fault', 'faults')}.`;
    } catch (error) {
      if (mine !== asked || signal.aborted) return;
      state.textContent = error.message;
      // Status 429: the service limits concurrent trials, and other pages run as many now.
      if (error.status === 429) later(BUSY_MS);
      else result.replaceChildren();
    }
  }

  const measure = async () => {
    effect.replaceChildren(h('p', { class: 'soft' }, 'Mapping everybody, for 30 s at most…'));
    try {
      const measured = text.value;
      const order = { target: target.value, attributes: read() };
      const found = await post('/workbench/effect', order, signal);
      // The effect of a former text is not shown.
      if (!signal.aborted && text.value === measured) effect.replaceChildren(...effectOf(found));
    } catch (error) {
      if (signal.aborted) return;
      effect.replaceChildren();
      throw error;
    }
  };
  const copy = async () => {
    const settings = toSettings(read());
    try {
      await navigator.clipboard.writeText(settings);
      say(`Copied: put it below targets.${target.value} in the settings file.`);
    } catch {
      // Without https a browser has no clipboard.
      const shownText = h('textarea', { class: 'code', rows: 10, readonly: true });
      effect.replaceChildren(
        field('Text for the settings file', shownText, `Below targets.${target.value}; copy it by hand.`),
      );
      shownText.value = settings;
      shownText.focus();
      shownText.select();
    }
  };

  target.addEventListener('change', begin);
  person.addEventListener('input', () => later());
  text.addEventListener('input', () => {
    effect.replaceChildren();
    later();
  });
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    trial.abort();
  });
  begin();
  return [
    h(
      'p',
      { class: 'soft' },
      'Change the mapping and see the values at once. Nothing is saved here: copy the result into the settings file.',
    ),
    h(
      'div',
      { class: 'search' },
      field('Target', target),
      field('Person', person, 'userName, externalId, address, id or ref'),
    ),
    h(
      'section',
      { class: 'card', 'aria-label': 'Mapping' },
      field('Attributes', text, 'JSON, as in targets.<name>.attributes of the settings file'),
      h(
        'div',
        { class: 'buttons' },
        actionButton('Effect on everybody', measure, { class: 'main' }),
        actionButton('Copy as settings', copy),
        actionButton('Start again from the settings', begin, { class: 'quiet' }),
      ),
      state,
      effect,
    ),
    result,
  ];
}

/**
 * Returns the mapping as text for the settings file. JSON is YAML. A `${` there would begin a variable, so each becomes `$${`;
 * in the replacement text `$$` stands for one `$`.
 */
export const toSettings = (attributes) =>
  `attributes: ${JSON.stringify(attributes, null, 2).replaceAll('\n', '\n  ').replaceAll('${', '$$$${')}\n`;

function trialOf({ name, connection, target, inScope, resource, values, faults, triedOnSamples }) {
  return [
    h(
      'section',
      { class: 'card', 'aria-label': 'Result' },
      h('h2', { dir: 'auto' }, name),
      h('p', { class: 'soft' }, `${connection} → ${target}`),
      !inScope && h('p', { class: 'failed' }, 'This person is not in the scope of the target.'),
      faultList(faults),
      !triedOnSamples &&
        h('p', { class: 'soft' }, 'The time did not suffice to try every expression on sample people.'),
      values.length > 0 &&
        table(
          'Values',
          ['Name', 'Type', 'Desired', 'Last applied', 'Result'],
          values.map((value) => [
            value.name,
            value.type,
            bidi(value.desired),
            bidi(value.applied),
            h(
              'div',
              {},
              pill(...OUTCOMES[value.outcome]),
              value.fault && h('p', { class: 'failed' }, value.fault),
            ),
          ]),
        ),
    ),
    h(
      'section',
      { class: 'card', 'aria-label': 'Pushed resource' },
      h('h2', {}, 'Pushed resource'),
      h(
        'pre',
        { class: 'resource', tabindex: 0, role: 'region', 'aria-label': 'JSON of the pushed resource' },
        h('code', { dir: 'auto' }, JSON.stringify(resource, null, 2)),
      ),
    ),
  ];
}

const faultList = (faults) =>
  faults.length > 0 &&
  h(
    'ul',
    { class: 'notes' },
    faults.map(({ path, message }) => h('li', {}, h('code', { class: 'bad' }, path), ` ${message}`)),
  );

/** Shows for how many people a mapping changes values. `isWhole`: the time of the service sufficed for all people. */
function effectOf(found) {
  const { compared, leftOut, total, isWhole, affected, attributes, examples, noLongerMapped, faults } = found;
  return [
    h('h2', {}, 'Effect on everybody'),
    h(
      'p',
      { class: 'lead' },
      `${count(affected, 'person is', 'people are')} affected, of ${count(compared, 'compared', 'compared')}` +
        (leftOut > 0 ? `; ${leftOut} left out: out of scope, protected, or without an account yet.` : '.'),
    ),
    !isWhole &&
      h(
        'p',
        { class: 'failed' },
        `The time ended after ${compared + leftOut} of ${total}: the rest may differ.`,
      ),
    faultList(faults),
    noLongerMapped.length > 0 &&
      h(
        'p',
        {},
        `No longer mapped, so the platform keeps the values as they are: ${noLongerMapped.join(', ')}.`,
      ),
    attributes.length > 0 &&
      table(
        'By attribute',
        ['Attribute', 'Changed', 'Removed', 'Faulty'],
        attributes.map(({ name, changed, emptied, faulty }) => [
          name,
          ...[changed, emptied, faulty].map((number) => number.toLocaleString('en')),
        ]),
      ),
    examples.length > 0 && [
      h('h3', {}, `The first ${count(examples.length, 'example', 'examples')}`),
      table(
        'Examples',
        ['Person', 'Attribute', 'Last applied', 'New'],
        examples.map((each) => [
          h('span', { dir: 'auto' }, each.name),
          each.attribute,
          bidi(each.old),
          each.fault === null ? bidi(each.new) : h('span', { class: 'failed' }, each.fault),
        ]),
      ),
    ],
  ]
    .flat()
    .filter(Boolean);
}
