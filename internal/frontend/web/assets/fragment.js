// Fragments come from the server, escaped. They are parsed in a document that runs and
// loads nothing, and only what is listed here is copied from it, so that not even a
// mistake of the server's could become a script, a form, an image or a style.

const elements = new Set(['A', 'B', 'BDI', 'BLOCKQUOTE', 'BR', 'CODE', 'DD', 'DETAILS', 'DIV', 'DL', 'DT', 'EM', 'H2', 'H3', 'H4', 'H5', 'H6', 'HR', 'LI', 'OL', 'P', 'PRE', 'SECTION', 'SPAN', 'STRONG', 'SUMMARY', 'TABLE', 'TBODY', 'TD', 'TH', 'THEAD', 'TIME', 'TR', 'UL']);
const attributes = new Set(['class', 'dir', 'title', 'datetime', 'aria-label', 'aria-hidden', 'role', 'tabindex', 'open', 'scope', 'lang']);
const roles = new Set(['group', 'list', 'note', 'img']);
const classes = new Set(['add', 'asked', 'bad', 'card', 'co', 'del', 'diff', 'dim', 'end', 'failed', 'fn', 'fold', 'gap', 'head', 'hunk', 'kw', 'l', 'more', 'note', 'nu', 'number', 'ok', 'path', 'phase', 'plan', 'prompt', 'quiet', 'refused', 'reply', 'right', 'running', 'said', 'sign', 'st', 'strike', 'ty', 'warn', 'wide', 'words']);
const deepest = 60;

// nodes returns the nodes of a fragment.
export function nodes(html) {
  const parsed = new DOMParser().parseFromString(html, 'text/html');
  return copied(parsed.body, deepest);
}

function copied(from, left) {
  const out = [];
  for (const n of from.childNodes) {
    if (n.nodeType === Node.TEXT_NODE) out.push(document.createTextNode(n.data));
    else if (n.nodeType === Node.ELEMENT_NODE) out.push(...element(n, left));
  }
  return out;
}

// element copies an element. One that is not listed is shown as the text that it is.
function element(n, left) {
  if (left === 0 || n.namespaceURI !== 'http://www.w3.org/1999/xhtml' || !elements.has(n.tagName)) return [document.createTextNode(n.textContent)];
  const e = document.createElement(n.localName);
  for (const a of n.attributes) {
    switch (true) {
      case a.name === 'class':
        e.classList.add(...a.value.split(/\s+/).filter((c) => classes.has(c)));
        break;
      case a.name === 'href' && n.tagName === 'A': {
        const to = address(a.value);
        if (to) {
          e.href = to;
          e.rel = 'noopener noreferrer nofollow';
          e.target = '_blank';
        }
        break;
      }
      case a.name === 'role' && !roles.has(a.value):
        break;
      case attributes.has(a.name):
        e.setAttribute(a.name, a.value);
    }
  }
  e.append(...copied(n, left - 1));
  return [e];
}

// address returns a link that leads to a page or to a mail address, else ''.
export function address(link) {
  try {
    const u = new URL(link);
    return ['http:', 'https:', 'mailto:'].includes(u.protocol) ? u.href : '';
  } catch {
    return '';
  }
}
