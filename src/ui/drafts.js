// Keeps what was typed in a view while the person signs in again. It is in the storage of this tab, because a sign-in at a provider
// loads the page anew, and for the same operator only.
import { NO_NAME, operator } from './api.js';

/** Key in the storage of this tab, for `{ place, by, values }`: address, operator, and the values by the key of each control. */
const TYPED = 'scim-bridge typed';

const isChoice = ({ type }) => type === 'checkbox' || type === 'radio';
const valueOf = (control) => (isChoice(control) ? control.checked : control.value);

/**
 * Returns the controls of a view by a key that a later drawing of the view gives them too: the labels of card and control, and a
 * number among controls with the same labels.
 */
function controlsOf(view) {
  const found = new Map();
  for (const control of view.querySelectorAll('input, select, textarea')) {
    const card = control.closest('[aria-label]')?.getAttribute('aria-label') ?? '';
    const name = `${card} ${control.labels[0]?.textContent ?? ''}`;
    let place = 0;
    while (found.has(`${name} ${place}`)) place++;
    found.set(`${name} ${place}`, control);
  }
  return found;
}

/** Stores the values of a view's controls, if one has a text. */
export function keepTyped(view) {
  const values = Object.fromEntries([...controlsOf(view)].map(([key, control]) => [key, valueOf(control)]));
  if (!Object.values(values).some((value) => typeof value === 'string' && value.trim() !== '')) return;
  sessionStorage.setItem(TYPED, JSON.stringify({ place: location.hash, by: operator(), values }));
}

export const hasTyped = () => sessionStorage.getItem(TYPED) !== null;

/** Returns the name of the operator who typed; '' for none. */
export function typedBy() {
  const { by } = JSON.parse(sessionStorage.getItem(TYPED)) ?? {};
  return by === undefined || by === NO_NAME ? '' : by;
}

export const forgetTyped = () => sessionStorage.removeItem(TYPED);

/** Puts the stored values back once, into the same view of the same operator; elsewhere they are dropped. */
export function restoreTyped(view) {
  if (!hasTyped()) return;
  const { place, by, values } = JSON.parse(sessionStorage.getItem(TYPED));
  forgetTyped();
  if (place !== location.hash || by !== operator()) return;
  for (const [key, control] of controlsOf(view)) {
    const value = values[key];
    if (value === undefined || value === valueOf(control)) continue;
    if (isChoice(control)) control.checked = value;
    else control.value = value;
    control.closest('details')?.setAttribute('open', '');
    // The view takes the value as if it was typed.
    for (const event of ['input', 'change']) control.dispatchEvent(new Event(event, { bubbles: true }));
  }
}
