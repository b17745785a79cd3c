// One session: its facts, its timeline, what it asks, and what a person may do with it.

import { h, button, s, swap, say, words } from './dom.js';
import { icon } from './icons.js';
import { timeline } from './timeline.js';
import { sheet } from './question.js';
import { board } from './board.js';
import { composer } from './composer.js';
import { course } from './course.js';
import { plan } from './plan.js';
import { rewind, undo } from './undo.js';
import { choose, dialog, failed } from './dialog.js';
import { percent, tokens } from './words.js';

// session shows one. api: what may be asked of the server; rights: watch, answer, steer;
// enter(session, text) goes to another session, with a text for its input.
export function session({ name, api, rights, leave, gone, enter }) {
  const steers = rights === 'steer';
  let state = null;
  let again = () => {}; // draws the pictures again, if they are shown
  const may = () => steers && !state?.read_only;
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
  const swarm = board({ api, session: name, may });
  const proposal = plan({ api, session: name, may });
  const e = h('main', { id: 'main', tabindex: '-1', 'aria-label': 'Session' },
    h('div', { class: 'bar' },
      button({ class: 'plain icon back', 'aria-label': 'All sessions' }, icon('back'), leave),
      title,
      button({ class: 'plain icon', 'aria-label': 'More actions', title: 'More actions', 'aria-haspopup': 'dialog' }, icon('more'), menu)),
    facts, swarm.e, line.e, proposal.e, ask.e, write.e);

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
    write.set({ busy, queued: state.queue ?? [], may: may() && !state.swarm });
    ask.set(state.questions ?? []);
    proposal.set(state);
    swarm.set(state);
    if (before && before.cost !== state.cost) again();
    if (before && before.status !== state.status && state.status !== 'waiting') say(`Session ${words_of[state.status] ?? state.status}`);
  }

  const fact = (name, value) => h('div', null, h('dt', null, name), h('dd', null, h('bdi', null, value)));

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
        item('How it goes…', () => { again = course(api, name, state.window?.size ?? 0); }),
        may() && !state?.swarm && item('Change the model…', model),
        may() && state?.modes?.length > 0 && item('Change the mode…', () => choose('Mode', state.modes, state.mode, (mode) => api.mode(name, mode))),
        may() && item('Undo the last changes…', () => undo(api, name)),
        may() && !state?.swarm && item('Go back to a prompt…', () => rewind(api, name, (to) => enter(to.id, to.text))),
        may() && !state?.swarm && item('Continue in a copy', async () => enter((await api.fork(name)).id)),
        may() && !state?.closed && item('Stop the session…', stop));
    });
  }

  // model lets a person choose a model that can be used here.
  async function model() {
    const { models } = await api.models();
    if (!models.length) return dialog('Model', () => h('p', null, 'No model can be used here. See: pawl models.'));
    const find = h('input', { type: 'text', 'aria-label': 'Find a model', placeholder: 'Find', autocapitalize: 'off', spellcheck: 'false', on: { input: () => draw() } });
    const rows = h('ul', { class: 'actions' });
    const d = dialog('Model', () => [models.length > 8 && find, rows].filter(Boolean));
    const draw = () => swap(rows, models.filter((m) => m.ref.toLowerCase().includes(find.value.trim().toLowerCase())).slice(0, 100).map((m) => h('li', null, button({ class: 'two', 'aria-current': m.ref === state.model ? 'true' : null },
      [h('bdi', null, m.ref), m.about && h('small', { class: 'dim' }, m.about)], async () => {
        d.close();
        try {
          await api.model(name, m.ref);
          say(`Model ${m.ref}`);
        } catch (err) {
          failed(err);
        }
      }))));
    draw();
    return d;
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
    block(b) { line.block(b); swarm.changed(); },
    gone: line.gone,
    piece(p) { if (!line.piece(p)) line.again().catch(failed); },
    put: write.put,
    title: () => title.textContent,
    focus: () => title.focus(),
  };
}

const words_of = { waiting: 'waits for you', running: 'running', idle: 'idle', stopped: 'stopped' };
