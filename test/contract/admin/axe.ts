// Checks a page with axe-core for elements that people with a keyboard, a screen reader or weak sight cannot use.
import axe from 'axe-core';
import type { Page } from 'playwright-core';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Returns what axe finds on the page as it is now, one line for each of the first five elements of a rule: `rule: element, reason`.
 * The devtools protocol evaluates axe, so the page's Content-Security-Policy stays as it is.
 */
export async function accessFaults(page: Page): Promise<string[]> {
  await page.evaluate(`window.axe === undefined ? (() => { ${axe.source} })() : undefined`);
  return page.evaluate(`axe.run(document, { runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) =>
      nodes.slice(0, 5).map(({ target, failureSummary }) => id + ': ' + target.join(' ') + ', ' + failureSummary)))`);
}
