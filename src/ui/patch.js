// Updates elements in place: unchanged elements keep their focus, their open details and their listeners.

const keyOf = (node) => node.dataset?.key;
/** By tag: attributes that the person sets by using the page, or a button while its work runs. They are not changed. */
const LEFT_ALONE = { DETAILS: ['open'], BUTTON: ['aria-disabled'] };

/**
 * Makes `old` equal to `fresh`. Elements of the same tag, place and `data-key` keep their listeners, so an element whose listeners
 * depend on data needs a key of that data. An element with `data-kept` is not changed while its key is the same.
 */
export function patch(old, fresh) {
  if (old.nodeName !== fresh.nodeName || keyOf(old) !== keyOf(fresh)) {
    old.replaceWith(fresh);
    return;
  }
  if (old.dataset?.kept !== undefined) return;
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  patchAttributes(old, fresh);
  const known = [...old.childNodes];
  const wanted = [...fresh.childNodes];
  wanted.forEach((child, place) => {
    if (place < known.length) patch(known[place], child);
    else old.append(child);
  });
  known.slice(wanted.length).forEach((child) => child.remove());
}

function patchAttributes(old, fresh) {
  const skipped = LEFT_ALONE[old.nodeName] ?? [];
  for (const { name, value } of [...fresh.attributes])
    if (!skipped.includes(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes])
    if (!skipped.includes(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
}
