// The plan that waits for a decision, as the terminal asks about it.

import { h, button, say, swap } from './dom.js';
import { dialog, failed } from './dialog.js';
import { nodes } from './fragment.js';

// plan is a line above the composer that leads to the plan.
export function plan({ api, session, may }) {
  const e = h('section', { class: 'proposed', 'aria-label': 'Plan', hidden: true });
  let shown = '';

  function set(state) {
    const p = state.status === 'idle' ? state.plan : null;
    const next = p ? `${p.id} ${may()}` : '';
    if (next === shown) return;
    shown = next;
    e.hidden = !p;
    swap(e, p && [h('span', { class: 'grow' }, `A plan with ${p.phases} ${p.phases === 1 ? 'phase' : 'phases'} waits for a decision.`),
      button({ class: may() ? 'main small' : 'small' }, may() ? 'Read and decide' : 'Read', () => open().catch(failed))]);
    if (p) say('A plan waits for a decision');
  }

  async function open() {
    const p = await api.plan(session);
    if (!may() || !p.waits) return dialog('The plan', () => nodes(p.html));
    return dialog('The plan', () => nodes(p.html), (close) => {
      const go = (what, done) => () => send(close, { plan: p.id, what }, done);
      return [
        button({ class: 'danger' }, 'Reject…', () => { close(); reject(p); }), button({}, 'Edit…', () => { close(); edit(p); }),
        button({}, 'Approve, ask about edits', go('approve-asking', 'Approved')), button({ class: 'main' }, 'Approve, allow edits', go('approve', 'Approved')),
      ];
    });
  }

  async function send(close, decision, done) {
    try {
      await api.decide(session, decision);
      say(done);
    } catch (err) {
      failed(err);
    } finally {
      close();
    }
  }

  function edit(p) {
    const text = h('textarea', { rows: '14', maxlength: '60000', spellcheck: 'false' });
    text.value = p.text;
    dialog('Edit the plan', () => h('label', { class: 'field' }, 'In Markdown: a heading "## Phase 1: …" for each phase, or a numbered list', text),
      (close) => [button({}, 'Cancel', close), button({ class: 'main' }, 'Keep', async () => {
        await send(close, { plan: p.id, what: 'edit', text: text.value }, 'The plan is changed');
        open().catch(failed);
      })]);
    text.focus();
  }

  function reject(p) {
    const why = h('textarea', { rows: '3', maxlength: '20000' });
    dialog('Reject the plan', () => h('label', { class: 'field' }, 'What is to change? The model writes another plan then. May stay empty.', why),
      (close) => [button({}, 'Cancel', close), button({ class: 'danger' }, 'Reject', () => send(close, { plan: p.id, what: 'reject', text: why.value.trim() }, 'Rejected'))]);
    why.focus();
  }

  return { e, set };
}
