// Dialogs: the browser keeps the focus inside and gives it back.

import { h, button, id } from './dom.js';

let n = 0;

// dialog opens one; content gets a function that closes it. buttons stand at the end.
export function dialog(title, content, buttons = () => []) {
  const name = `dialog-${++n}`;
  const d = h('dialog', { 'aria-labelledby': name });
  const close = () => d.close();
  const back = document.activeElement;
  const foot = buttons(close);
  d.append(
    h('header', null, h('h2', { id: name }, title), button({ class: 'plain icon', 'aria-label': 'Close' }, '✕', close)),
    h('div', { class: 'body' }, content(close)));
  if (foot.length) d.append(h('footer', null, foot));
  d.addEventListener('close', () => {
    d.remove();
    if (back?.isConnected) back.focus();
  });
  d.addEventListener('click', (e) => { if (e.target === d) close(); });
  id('sheet').append(d);
  d.showModal();
  return d;
}

// failed tells a person what did not work.
export function failed(err) {
  if (err?.quiet) return;
  dialog('That did not work', () => [h('p', { dir: 'auto' }, err.message), err.hint && h('p', { class: 'dim' }, err.hint)].filter(Boolean),
    (close) => [button({ class: 'main' }, 'Close', close)]);
}

// choose lets a person take one of some values.
export function choose(title, values, now, does) {
  dialog(title, (close) => h('ul', { class: 'actions' }, values.map((v) => h('li', null, button({ 'aria-current': v === now ? 'true' : null }, v, async () => {
    close();
    try {
      await does(v);
    } catch (e) {
      failed(e);
    }
  })))));
}
