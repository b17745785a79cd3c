// Fragments come from the server, escaped. They are read here, not by the browser: what
// is listed becomes an element, anything else is text, so that not even a mistake of the
// server's could become a script, a form, an image or a style.

const elements = new Set(['a', 'bdi', 'blockquote', 'br', 'code', 'details', 'div', 'em', 'h3', 'h4', 'h5', 'h6', 'hr', 'li', 'ol', 'p', 'pre', 'span', 'strong', 'summary', 'table', 'tbody', 'td', 'th', 'thead', 'time', 'tr', 'ul']);
const single = new Set(['br', 'hr']);
const attributes = new Set(['dir', 'title', 'datetime', 'aria-label', 'aria-hidden', 'tabindex', 'open', 'scope']);
const roles = new Set(['group', 'list']);
const classes = new Set(['add', 'asked', 'bad', 'card', 'co', 'del', 'diff', 'dim', 'end', 'failed', 'fn', 'fold', 'gap', 'head', 'hunk', 'kw', 'l', 'more', 'note', 'nu', 'ok', 'path', 'phase', 'plan', 'prompt', 'quiet', 'refused', 'reply', 'right', 'running', 'said', 'sign', 'st', 'strike', 'ty', 'warn', 'wide', 'words']);
const deepest = 100;

const tag = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"<]*")?)*)\s*>/g;
const attribute = /([a-z-]+)(?:="([^"]*)")?/g;
const named = { amp: '&', lt: '<', gt: '>', quot: '"' };

const plain = (s) => s.replace(/&(?:(amp|lt|gt|quot)|#(\d{1,7}));/g, (all, name, code) => (name ? named[name] : code <= 0x10ffff ? String.fromCodePoint(code) : all));

// nodes returns the nodes of a fragment.
export function nodes(html) {
  const root = document.createDocumentFragment();
  const open = [root];
  let at = 0;
  const text = (to) => { if (to > at) open[open.length - 1].append(plain(html.slice(at, to))); };
  for (const m of html.matchAll(tag)) {
    const [all, closes, name, rest] = m;
    if (!elements.has(name)) continue; // it stays a part of the text
    text(m.index);
    at = m.index + all.length;
    if (closes) {
      const i = open.findLastIndex((e) => e.localName === name);
      if (i > 0) open.length = i;
      continue;
    }
    const e = document.createElement(name);
    for (const [, key, value] of rest.matchAll(attribute)) put(e, key, plain(value ?? ''));
    open[open.length - 1].append(e);
    if (!single.has(name) && open.length < deepest) open.push(e);
  }
  text(html.length);
  return [...root.childNodes];
}

function put(e, key, value) {
  if (key === 'class') e.classList.add(...value.split(' ').filter((c) => classes.has(c)));
  else if (key === 'href' && e.localName === 'a') link(e, value);
  else if (key === 'role' ? roles.has(value) : attributes.has(key)) e.setAttribute(key, value);
}

// link lets a link lead to a page or to a mail address, and nowhere else.
function link(e, to) {
  if (!URL.canParse(to) || !['http:', 'https:', 'mailto:'].includes(new URL(to).protocol)) return;
  e.href = to;
  e.rel = 'noopener noreferrer nofollow';
  e.target = '_blank';
}
