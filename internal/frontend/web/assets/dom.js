// Elements are made here, and nowhere else. A text is always a text node: no
// string of a session is ever parsed as markup.

// h makes an element. props: class, text, on (listeners), and attributes; false,
// null and undefined leave an attribute out, true sets it empty.
export function h(tag, props, ...children) {
  const e = document.createElement(tag);
  fill(e, props);
  e.append(...children.flat(3).filter((c) => c !== null && c !== undefined && c !== false && c !== ''));
  return e;
}

const drawing = 'http://www.w3.org/2000/svg';

// s makes an element of a drawing.
export function s(tag, props, ...children) {
  const e = document.createElementNS(drawing, tag);
  fill(e, props);
  e.append(...children.flat().filter(Boolean));
  return e;
}

function fill(e, props) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') for (const [what, f] of Object.entries(value)) e.addEventListener(what, f);
    else if (name === 'text') e.textContent = value;
    else e.setAttribute(name, value === true ? '' : String(value));
  }
}

export const id = (name) => document.getElementById(name);

// words is text for screen readers only.
export const words = (text) => h('span', { class: 'words' }, text);

// button makes a button that does one thing at a time.
export function button(props, label, does) {
  const b = h('button', { type: 'button', ...props }, label);
  b.addEventListener('click', async (e) => {
    if (b.getAttribute('aria-disabled') === 'true') return;
    b.setAttribute('aria-disabled', 'true');
    try {
      await does(e, b);
    } finally {
      b.removeAttribute('aria-disabled');
    }
  });
  return b;
}

// swap replaces what an element shows, and returns it.
export function swap(e, ...children) {
  e.replaceChildren(...children.flat(3).filter((c) => c !== null && c !== undefined && c !== false && c !== ''));
  return e;
}

let quiet = 0;

// say tells a screen reader something, at most once a second, the newest last.
export function say(text) {
  clearTimeout(quiet);
  quiet = setTimeout(() => { id('says').textContent = text; }, 400);
}
