// The board of a swarm: its tasks, its machines, and what it costs, as `pawl swarm status`
// tells it.

import { h, button, s, say, swap, words } from './dom.js';
import { dialog, failed } from './dialog.js';
import { nodes } from './fragment.js';
import { tokens } from './words.js';

const signs = { merged: '✓', taken: '▸', returned: '◔', conflicted: '⇄', failed: '✗', skipped: '–', parked: 'Ⅱ', ready: '○', waiting: '·' };
const order = ['conflicted', 'taken', 'failed', 'parked', 'returned', 'ready', 'waiting', 'skipped', 'merged'];
const rank = (t) => order.indexOf(t.state);

// board draws the swarm of a session. set(state) shows it where the session is a swarm's;
// changed() is called when something happened in it.
export function board({ api, session, may }) {
  const e = h('section', { class: 'board', 'aria-label': 'Swarm', hidden: true });
  let timer = 0;
  let last = '';
  let merged = -1;

  async function load() {
    timer = 0;
    try {
      const b = await api.swarm(session);
      const next = JSON.stringify([b, may()]);
      if (next === last) return;
      last = next;
      const open = [...e.querySelectorAll('details')].map((x) => x.open);
      draw(b);
      e.querySelectorAll('details').forEach((x, i) => { x.open = open[i] ?? x.open; });
    } catch (err) {
      if (!err.quiet) swap(e, h('p', { class: 'wrong' }, err.message));
    }
  }

  function draw(b) {
    const done = b.tasks.filter((t) => t.state === 'merged').length;
    if (merged >= 0 && merged !== done) say(`${done} of ${b.tasks.length} tasks are merged`);
    merged = done;
    const slots = b.tasks.filter((t) => t.state === 'taken').length;
    const conflicts = b.tasks.filter((t) => t.state === 'conflicted').length;
    swap(e,
      h('div', { class: 'row' },
        h('strong', null, b.outcome || (b.again ? 'interrupted' : 'running')),
        s('svg', { class: 'meter', viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, s('rect', { width: b.tasks.length ? (100 * done) / b.tasks.length : 0, height: 10 })),
        h('span', { class: 'grow' }),
        may() && b.again && button({ class: 'small' }, 'Continue…', resume),
        may() && (!b.outcome || b.outcome === 'paused') && button({ class: 'small danger' }, 'Cancel…', cancel)),
      h('p', null, [`${done} of ${b.tasks.length} merged`, slots && `${slots} at work`, conflicts && `${conflicts} in conflict`, b.cost + (b.more ? ' or more' : ''), `${tokens(b.tokens)} tokens`].filter(Boolean).join(' · ')),
      b.error && h('p', { class: 'wrong' }, h('bdi', null, b.error)),
      b.again && !may() && h('p', { class: 'dim' }, 'To go on, in a terminal: ', h('code', null, b.again)),
      h('details', { open: true }, h('summary', null, 'Tasks'), h('ul', { class: 'tasks' }, b.tasks.toSorted((x, y) => rank(x) - rank(y)).map(task))),
      b.machines.length > 0 && h('details', null, h('summary', null, 'Machines'), h('div', { class: 'wide', tabindex: '0', role: 'group', 'aria-label': 'Machines' }, h('table', null,
        h('thead', null, h('tr', null, ['Machine', 'Works on', 'Done', 'Failed', 'Aside'].map((x) => h('th', { scope: 'col' }, x)))),
        h('tbody', null, b.machines.map((m) => h('tr', null, h('th', { scope: 'row' }, h('bdi', null, m.name)), h('td', null, String(m.works)), h('td', null, String(m.done)), h('td', null, String(m.failed)), h('td', null, h('bdi', null, m.aside ?? ''))))))))
    );
  }

  function task(t) {
    const about = [t.worker && `${t.worker}${t.machine ? ` on ${t.machine}` : ''}`, t.cost, t.tries && `${t.tries} failed ${t.tries === 1 ? 'try' : 'tries'}`,
      t.review && 'its result waits for your yes', t.state === 'waiting' && t.after.length && `after ${t.after.join(', ')}`, t.merged_by && `merged by ${t.merged_by}`].filter(Boolean).join(' · ');
    return h('li', { class: `task ${t.state}` }, h('span', { class: 'sign', 'aria-hidden': 'true' }, signs[t.state] ?? '?'), h('div', null,
      words(`${t.state}: `), h('bdi', null, t.title || t.id), about && h('span', { class: 'dim' }, h('bdi', null, ` ${about}`)),
      t.error && t.state !== 'merged' && h('details', { class: 'fold' }, h('summary', null, 'Why'), h('p', { dir: 'auto' }, t.error))), may() && button({ class: 'plain icon', 'aria-label': `Actions for ${t.title || t.id}` }, '⋯', () => orders(t)));
  }

  // orders are what a person may decide about a task. The swarm refuses what makes no sense now.
  function orders(t) {
    const order = (what, title, text, needed) => () => {
      const e = h('textarea', { rows: '3' });
      dialog(title, () => (text ? h('label', { class: 'field' }, text, e) : h('p', null, t.title || t.id)), (close) => [button({}, 'Not now', close),
        button({ class: 'main' }, 'Do it', async () => {
          if (needed && !e.value.trim()) return e.focus();
          await act(close, async () => {
            await api.steerTask(session, { task: t.id, what, ...(text && e.value.trim() ? { text: e.value.trim() } : {}) });
            return 'Done';
          })();
        })]);
    };
    const diff = async () => {
      try {
        const { html } = await api.taskDiff(session, t.id);
        dialog(`What ${t.id} changes`, () => (html ? nodes(html) : h('p', null, 'Nothing.'))).classList.add('large');
      } catch (err) {
        failed(err);
      }
    };
    const all = [['Show what it changes', diff], t.review && ['Accept its result…', order('accept', 'Accept the result?')],
      ['Message its worker…', order('message', 'Message to the worker of the task', 'Later workers of it get it, too', true)], ['Retry…', order('retry', 'Retry the task', 'What its worker is to know (optional)')],
      ['Give it another goal…', order('edit', 'Another goal', 'The whole goal', true)], ['Cancel it…', order('cancel', 'Cancel this task, and the tasks that wait for it?')]].filter(Boolean);
    dialog(t.title || t.id, (close) => h('ul', { class: 'actions' }, all.map(([words, does]) => h('li', null, button({}, words, () => { close(); return does(); })))));
  }

  const act = (close, does) => async () => {
    try {
      say(await does());
    } catch (err) {
      failed(err);
    } finally {
      close();
      load();
    }
  };
  const tick = () => h('input', { type: 'checkbox' });
  const ticked = (e, words) => h('label', { class: 'tick' }, e, h('span', null, words));

  function cancel() {
    const keep = tick();
    dialog('Cancel the swarm?', () => [h('p', null, 'Its workers end, and nothing is written to your files. That may take a while.'), ticked(keep, 'Keep the workers’ copies of the files')],
      (close) => [button({}, 'Let it run', close), button({ class: 'danger' }, 'Cancel it', act(close, async () => (await api.cancelSwarm(session, keep.checked ? { keep_trees: true } : {})).said || 'Cancelled'))]);
  }

  function resume() {
    const workers = h('input', { type: 'number', min: '1', max: '64', value: '4', inputmode: 'numeric' });
    const usd = h('input', { type: 'number', min: '0', step: 'any', inputmode: 'decimal', placeholder: 'as configured' });
    const part = tick();
    dialog('Continue the swarm', () => [
      h('label', { class: 'field' }, 'Workers at the same time', workers),
      h('label', { class: 'field' }, 'May cost in all, with what it has cost, in $', usd),
      ticked(part, 'Write what is merged, even if the result is incomplete'),
    ], (close) => [button({}, 'Not now', close), button({ class: 'main' }, 'Go on', act(close, async () => {
      await api.resumeSwarm(session, { workers: Number(workers.value), ...(usd.value ? { usd: Number(usd.value) } : {}), ...(part.checked ? { write_partial: true } : {}) });
      return 'The swarm goes on';
    }))]);
  }

  const changed = () => {
    if (!e.hidden && !timer) timer = setTimeout(load, 700);
  };

  return {
    e, changed,
    set(state) {
      const was = e.hidden;
      e.hidden = !state.swarm;
      if (was && state.swarm) load();
      else changed();
    },
  };
}
