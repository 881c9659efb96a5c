// Extends the Markdown renderer: anchors of headings, links between pages, and tables that scroll.
import { posix } from 'node:path';

/** Returns the anchor that GitHub gives a heading. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const textOf = (inline) =>
  inline.children
    .filter(({ type }) => type === 'text' || type === 'code_inline')
    .map(({ content }) => content)
    .join('');

/** Gives each heading its anchor, and keeps the headings for the list "On this page". */
function anchorHeadings(tokens, { source, found }) {
  const anchors = new Map();
  const headings = [];
  tokens.forEach((token, index) => {
    if (token.type !== 'heading_open') return;
    const text = textOf(tokens[index + 1]);
    const anchor = anchorOf(text);
    const before = anchors.get(anchor) ?? 0;
    anchors.set(anchor, before + 1);
    const id = before === 0 ? anchor : `${anchor}-${before}`;
    token.attrSet('id', id);
    headings.push({ id, text, level: Number(token.tag.slice(1)) });
  });
  found.headings.set(source, headings);
}

/** Replaces the target of a link or image with an address of the site, and keeps it for the check of links. */
function rewrite(token, attribute, { source, output, found, outputOf }) {
  const address = token.attrGet(attribute);
  if (/^(?:https?|mailto):/.test(address)) {
    if (attribute === 'src') found.faults.push(`${source}: the image ${address} is not in the repository`);
    return;
  }
  const [path = '', anchor] = decodeURI(address).split('#');
  const target = path === '' ? source : posix.normalize(posix.join(posix.dirname(source), path));
  const to = outputOf(target);
  if (to === undefined) {
    found.faults.push(`${source}: ${address} leads nowhere`);
    return;
  }
  if (anchor !== undefined) found.links.push({ source, address, target: to.source, anchor });
  const href = path === '' ? '' : posix.relative(posix.dirname(output), to.output);
  token.attrSet(attribute, anchor === undefined ? href : `${href}#${anchor}`);
}

/** Adds the rules of the site to a markdown-it instance; `found` collects headings, links and faults of all pages. */
export function extendMarkdown(md, { found, outputOf }) {
  md.set({ html: false });
  md.enable('code');
  md.core.ruler.push('site', ({ tokens, env }) => {
    const page = { source: env.source, output: env.output, found, outputOf };
    anchorHeadings(tokens, page);
    for (const { children } of tokens)
      for (const token of children ?? []) {
        if (token.type === 'link_open') rewrite(token, 'href', page);
        if (token.type === 'image') rewrite(token, 'src', page);
      }
  });
  const { rules } = md.renderer;
  rules.table_open = () => '<div class="scroll" tabindex="0"><table>\n';
  rules.table_close = () => '</table></div>\n';
  const { fence } = rules;
  rules.fence = (...call) => fence(...call).replace('<pre>', '<pre tabindex="0">');
}
