// One session: its facts, its timeline, what it asks, and what a person may do with it.

import { h, button, s, swap, say, words } from './dom.js';
import { icon } from './icons.js';
import { timeline } from './timeline.js';
import { sheet } from './question.js';
import { composer } from './composer.js';
import { choose, dialog, failed } from './dialog.js';
import { percent, tokens } from './words.js';

// session shows one. api: what may be asked of the server; rights: watch, answer, steer.
export function session({ name, api, rights, leave, gone }) {
  const steers = rights === 'steer';
  const title = h('h1', { tabindex: '-1' }, '…');
  const facts = h('dl', { class: 'facts', 'aria-label': 'About the session' });
  const working = h('p', { class: 'working', hidden: true }, h('span', { class: 'dot running' }), h('span'));
  const line = timeline({ load: (before, n) => api.blocks(name, before, n), failed });
  line.live.append(working);
  const ask = sheet({ answer: (q, body) => api.answer(name, q.id, body), may: () => rights !== 'watch' && !state?.read_only, failed });
  const write = composer({
    session: name, failed,
    send: async (text, images, key) => { await api.prompt(name, { id: key, text, images }); line.toEnd(); },
    withdraw: async (q) => { await api.withdraw(name, q.id); write.put(q.text); },
    interrupt: async () => { await api.interrupt(name); say('Interrupted'); },
  });
  const e = h('main', { id: 'main', tabindex: '-1', 'aria-label': 'Session' },
    h('div', { class: 'bar' },
      button({ class: 'plain icon back', 'aria-label': 'All sessions' }, icon('back'), leave),
      title,
      button({ class: 'plain icon', 'aria-label': 'More actions', title: 'More actions', 'aria-haspopup': 'dialog' }, icon('more'), menu)),
    facts, line.e, ask.e, write.e);
  let state = null;

  function set(next) {
    const before = state;
    state = next;
    title.textContent = state.title || 'New session';
    const full = state.window ? percent(state.window.used, state.window.size) : 0;
    swap(facts,
      fact('State', state.said || words_of[state.status] || state.status),
      state.model && fact('Model', state.model),
      state.mode && fact('Mode', state.mode),
      state.phase && fact('Phase', state.phase),
      state.window?.size > 0 && h('div', { class: 'named' }, h('dt', null, 'Window'), h('dd', null,
        s('svg', { class: `meter${full >= 85 ? ' full' : ''}`, viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, s('rect', { width: Math.min(full, 100), height: 10 })),
        ` ${full} %`, words(` of ${tokens(state.window.size)} tokens`))),
      state.cost && fact('Cost', state.cost));
    const busy = state.status === 'running' || state.status === 'waiting';
    working.hidden = state.status !== 'running';
    working.lastChild.textContent = state.doing || 'Working…';
    write.set({ busy, queued: state.queue ?? [], may: may() });
    ask.set(state.questions ?? []);
    if (before && before.status !== state.status && state.status !== 'waiting') say(`Session ${words_of[state.status] ?? state.status}`);
  }

  const fact = (name, value) => h('div', null, h('dt', null, name), h('dd', null, h('bdi', null, value)));

  const may = () => steers && !state?.read_only;

  function menu() {
    dialog(state?.title || 'Session', (close) => {
      const item = (label, does) => h('li', null, button({}, label, async () => {
        close();
        try {
          await does();
        } catch (err) {
          failed(err);
        }
      }));
      return h('ul', { class: 'actions' },
        !may() && h('li', null, 'This device only watches.'),
        may() && item('Change the model…', model),
        may() && state?.modes?.length > 0 && item('Change the mode…', () => choose('Mode', state.modes, state.mode, (mode) => api.mode(name, mode))),
        may() && item('Undo the last changes…', undo),
        may() && !state?.closed && item('Stop the session…', stop));
    });
  }

  async function undo() {
    const plan = await api.undoPlan(name);
    if (!plan.files?.length) return dialog('Undo', () => h('p', null, plan.said || 'There is nothing to undo.'));
    dialog('Undo the last changes', () => [
      plan.said && h('p', null, plan.said),
      h('ul', { class: 'files' }, plan.files.map((f) => h('li', null, h('code', null, h('bdi', null, f.path)), f.said && h('span', { class: 'dim' }, ` ${f.said}`)))),
    ], (close) => [button({}, 'Keep them', close), button({ class: 'danger' }, 'Undo', async () => {
      try {
        await api.undo(name, plan.hash);
        say('Undone');
      } catch (err) {
        failed(err);
      } finally {
        close();
      }
    })]);
  }

  function model() {
    const input = h('input', { type: 'text', placeholder: 'provider/model', autocapitalize: 'off', spellcheck: 'false' });
    dialog('Change the model', () => h('label', { class: 'field' }, 'Name of the model, as pawl models lists it', input),
      (close) => [button({}, 'Cancel', close), button({ class: 'main' }, 'Change', async () => {
        try {
          await api.model(name, input.value.trim());
        } catch (err) {
          failed(err);
        } finally {
          close();
        }
      })]);
    input.focus();
  }

  function stop() {
    dialog('Stop the session?', () => h('p', null, 'What runs is interrupted and the session is closed. It can be resumed later.'),
      (close) => [button({}, 'Let it run', close), button({ class: 'danger' }, 'Stop', async () => {
        try {
          await api.stop(name);
        } catch (err) {
          failed(err);
        } finally {
          close();
        }
      })]);
  }

  // load loads it, or again: who reads older blocks then stays there.
  async function load(again) {
    try {
      const [next] = await Promise.all([api.session(name), again ? line.again() : line.reload()]);
      set(next);
    } catch (err) {
      if (err.status === 404) gone(err);
      else throw err;
    }
  }

  return {
    e, load, set, name,
    block: line.block, gone: line.gone,
    piece(p) { if (!line.piece(p)) line.again().catch(failed); },
    put: write.put,
    title: () => title.textContent,
    focus: () => title.focus(),
  };
}

const words_of = { waiting: 'waits for you', running: 'running', idle: 'idle', stopped: 'stopped' };
