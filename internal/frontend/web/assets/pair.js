// Pairing: a code that is good once buys a cookie that scripts cannot read.

import { h } from './dom.js';
import { api } from './api.js';

// codeInAddress takes the code out of the address, where the QR code put it, before
// anything else happens: not even the history has it then.
export function codeInAddress() {
  const m = /^#code=([\w-]+)(?:&sha256=\w+)?$/.exec(location.hash);
  if (!m) return '';
  history.replaceState(null, '', location.pathname);
  return m[1];
}

// pairing is the form to type a code.
export function pairing(message, done) {
  const wrong = h('p', { class: 'wrong', role: 'alert' }, message);
  const code = h('input', { type: 'text', id: 'code', autocomplete: 'one-time-code', autocapitalize: 'characters', spellcheck: 'false', required: true, maxlength: '64', 'aria-describedby': 'how' });
  const send = h('button', { type: 'submit', class: 'main' }, 'Pair');
  return h('main', { id: 'main', tabindex: '-1', 'aria-label': 'Pair this device' }, h('form', { class: 'pair', on: { submit: async (e) => {
    e.preventDefault();
    send.disabled = true;
    wrong.textContent = '';
    try {
      await api.pair(code.value.trim().replaceAll(' ', ''));
      await done();
    } catch (err) {
      wrong.textContent = err.message;
      code.select();
      code.focus();
    } finally {
      send.disabled = false;
    }
  } } },
  h('h1', null, h('img', { src: '/icon.svg', alt: '' }), 'Pair this device'),
  h('p', { id: 'how' }, 'Scan the QR code of ', h('code', null, 'pawl serve'), ', or type its code. A code is good once and for two minutes.'),
  wrong, h('label', { class: 'field', for: 'code' }, 'Code'), code, send));
}
