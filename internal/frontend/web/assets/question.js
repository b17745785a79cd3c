// What pawl asks: a sheet at the bottom. It never takes the focus from somebody who
// types, and its buttons rest for a moment, so that a tap meant for something else is no
// answer.

import { h, button, swap, say, words } from './dom.js';
import { nodes } from './fragment.js';

const rest = 500; // ms

// sheet shows the first of the open questions. answer(question, body) sends one.
export function sheet({ answer, may, failed }) {
  const e = h('section', { class: 'ask', 'aria-label': 'Question', hidden: true });
  let questions = [];
  let shown = '';
  let at = -1; // the call that is asked about; -1: all
  let verdicts = [];

  function set(all) {
    questions = all;
    const q = all[0];
    if ((q?.id ?? '') === shown) return;
    shown = q?.id ?? '';
    verdicts = [];
    at = q && q.calls?.length > 1 ? -1 : 0;
    draw(true);
  }

  function draw(fresh) {
    const q = questions[0];
    const active = document.activeElement;
    const had = e.contains(active);
    // A small screen has no room for the composer, unless somebody writes in it. That is
    // decided once: nothing may move under a finger.
    if (fresh) document.body.classList.toggle('asking', Boolean(q) && !(active?.tagName === 'TEXTAREA' && active.value));
    e.hidden = !q;
    if (!q) {
      swap(e);
      if (had) document.querySelector('.composer textarea')?.focus();
      return;
    }
    const calls = q.calls ?? [];
    const asked = at < 0 ? calls : calls.slice(at, at + 1);
    const title = calls.length === 0 ? (q.from ? `${q.from} asks` : q.options?.length || !q.why ? 'pawl asks' : q.why)
      : at < 0 ? `Allow these ${calls.length}?` : `Allow ${asked[0].wants ? `it to ${asked[0].wants}` : asked[0].title}?`;
    const count = questions.length > 1 ? `1 of ${questions.length} questions` : calls.length > 1 && at >= 0 ? `${at + 1} of ${calls.length}` : '';
    swap(e,
      h('h2', { tabindex: '-1' }, h('bdi', null, title)),
      h('div', { class: 'body' },
        count && h('p', { class: 'dim' }, count, q.from ? ` · for the agent ${q.from}` : ''),
        calls.length === 0 && h('p', { class: 'asked', dir: 'auto' }, q.text),
        asked.map((c) => call(c, at < 0))),
      may() ? answers(q, asked) : h('p', { class: 'dim' }, 'This device may only watch. Answer in the terminal, or let the device answer: pawl serve devices.'));
    e.querySelectorAll('.answers button').forEach((b) => b.setAttribute('aria-disabled', 'true'));
    setTimeout(() => e.querySelectorAll('.answers button').forEach((b) => b.removeAttribute('aria-disabled')), rest);
    if (fresh) say(`pawl asks: ${title}`);
    if (had || !fresh || !document.activeElement?.checkVisibility()) e.querySelector('h2').focus();
  }

  function call(c, named) {
    return h('div', null,
      named && h('p', null, h('strong', null, h('bdi', null, c.title))),
      c.reason && h('p', { class: 'covers' }, h('bdi', null, c.reason)),
      c.html ? nodes(c.html) : c.preview && h('pre', { class: c.diff ? 'diff' : null, tabindex: '0', role: 'group', 'aria-label': c.diff ? 'change' : 'what would run' }, c.preview));
  }

  const send = async (body) => {
    const q = questions[0];
    try {
      await answer(q, body);
      say('Answered');
    } catch (err) {
      failed(err);
    }
  };

  // decide notes the answer to what is asked about now, and goes on or sends all.
  async function decide(scope, why) {
    const q = questions[0];
    const calls = q.calls;
    if (at < 0) return send({ verdicts: calls.map((c) => verdict(c, scope, why)) });
    verdicts.push(verdict(calls[at], scope, why));
    if (scope === 'no') while (verdicts.length < calls.length) verdicts.push(verdict(calls[verdicts.length], 'no', ''));
    if (verdicts.length === calls.length) return send({ verdicts });
    at++;
    draw(false);
  }

  const verdict = (c, scope, why) => ({ call: c.call, scope, ...(why ? { why } : {}) });

  function answers(q, asked) {
    if (!q.calls?.length) return text(q);
    const one = at >= 0 ? asked[0] : null;
    return h('div', { class: 'answers', role: 'group', 'aria-label': 'Answers' },
      button({ class: 'danger' }, one ? 'Deny' : 'Deny all', () => deny(q)),
      button({ class: 'main' }, one ? 'Allow once' : `Allow all ${asked.length} once`, () => decide('once')),
      !one && button({}, 'One by one', () => { at = 0; draw(false); }),
      one?.rule && button({ class: 'widens' }, [h('span', null, 'Allow for this session'), h('small', null, words('covers '), one.rule)], () => decide('session')),
      one?.rule && one.always && button({ class: 'widens' }, [h('span', null, 'Allow always'), h('small', null, words('covers '), one.rule)], () => decide('always')));
  }

  // deny asks for a reason, which the model reads; an empty one is as good.
  function deny(q) {
    const why = h('input', { type: 'text', 'aria-label': 'Why not (the model reads it)', placeholder: 'Why not? The model reads it. May stay empty.', maxlength: '2000', enterkeyhint: 'send' });
    const done = () => decide('no', why.value.trim());
    const form = h('form', { class: 'answers', on: { submit: (ev) => { ev.preventDefault(); done(); } } }, h('div', { class: 'grow' }, why),
      h('button', { class: 'danger', type: 'submit' }, 'Deny'), button({}, 'Back', () => draw(false)));
    e.querySelector('.answers').replaceWith(form);
    why.focus();
  }

  function text(q) {
    const own = h('input', { type: 'text', 'aria-label': 'Your answer', placeholder: q.options?.length ? 'Or your own words' : 'Your answer', enterkeyhint: 'send' });
    return h('form', { class: 'answers', on: { submit: (ev) => { ev.preventDefault(); if (own.value.trim()) send({ text: own.value.trim() }); } } },
      (q.options ?? []).map((o) => button({}, o, () => send({ text: o }))),
      h('div', { class: 'row grow' }, h('div', { class: 'grow' }, own), h('button', { class: 'main', type: 'submit' }, 'Answer')));
  }

  return { e, set, draw: () => draw(false) };
}
