// Measures the contrast of text in the browser (WCAG 2.1 AA, 1.4.3).

/** Runs in the page. Returns `ratio, colours, text` of every visible text below its limit. */
export const FAINT_TEXT = `(() => {
  const parse = (text) => {
    const [r = 0, g = 0, b = 0, a = 1] = text.match(/[\\d.]+/g)?.map(Number) ?? [];
    return [r, g, b, a];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((each, index) => each * a + under[index] * (1 - a));
  const ground = (element) => {
    if (!element) return [255, 255, 255];
    const paint = parse(getComputedStyle(element).backgroundColor);
    return paint[3] === 1 ? paint.slice(0, 3) : over(paint, ground(element.parentElement));
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((each) => each / 255).map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const element of document.querySelectorAll('body *')) {
    const text = [...element.childNodes].filter((each) => each.nodeType === 3).map((each) => each.data.trim()).join('');
    if (!text || element.disabled || !element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
    const style = getComputedStyle(element);
    const under = ground(element);
    const shades = [light(over(parse(style.color), under)), light(under)].sort((a, b) => b - a);
    const ratio = (shades[0] + 0.05) / (shades[1] + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) found.push(ratio.toFixed(2) + ' ' + style.color + ' on ' + under.map(Math.round) + ': ' + text);
  }
  return found;
})()`;
