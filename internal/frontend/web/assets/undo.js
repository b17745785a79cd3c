// What goes back: files by an undo that is shown first, the conversation by a fork.

import { h, button, say } from './dom.js';
import { dialog, failed } from './dialog.js';
import { nodes } from './fragment.js';
import { age } from './words.js';

// shown draws what an undo would do. confirmed() are the files that ask and were ticked.
function shown(plan) {
  const ticks = new Map();
  const e = [
    plan.said && h('p', null, plan.said),
    h('ul', { class: 'files' }, plan.files.map((f, i) => {
      const name = [h('code', null, h('bdi', null, f.path)), f.said && h('span', { class: 'dim' }, h('bdi', null, ` ${f.said}`))];
      if (f.asks) ticks.set(i, h('input', { type: 'checkbox' }));
      return h('li', null, f.asks ? h('label', { class: 'tick' }, ticks.get(i), h('span', null, 'Undo too: ', name)) : f.html ? null : name,
        f.html && h('details', { class: 'fold' }, h('summary', null, f.asks ? 'The change' : name), nodes(f.html)));
    })),
  ];
  return { e, confirmed: () => [...ticks].filter(([, t]) => t.checked).map(([i]) => i) };
}

// attempt does something, and closes the dialog first if it works.
const attempt = (close, does) => async () => {
  try {
    await does();
    close();
  } catch (err) {
    close();
    failed(err);
  }
};

// undo shows what an undo of the last turn would do, and does it.
export async function undo(api, session) {
  const plan = await api.undoPlan(session);
  if (!plan.files?.length) return dialog('Undo', () => h('p', null, plan.said || 'There is nothing to undo.'));
  const view = shown(plan);
  return dialog('Undo the last changes', () => view.e, (close) => [button({}, 'Keep them', close),
    button({ class: 'danger' }, 'Undo', attempt(close, async () => {
      await api.undo(session, plan.hash, view.confirmed());
      say('Undone');
    }))]);
}

// rewind lets a person choose a prompt and what goes back to before it. went(to) is called
// with the session to go on in, and the text of the prompt.
export async function rewind(api, session, went) {
  const { prompts } = await api.prompts(session);
  if (!prompts.length) return dialog('Go back', () => h('p', null, 'There is no prompt yet.'));
  return dialog('Go back to before a prompt', (close) => h('ul', { class: 'actions' }, prompts.map((p) => h('li', null, button({ class: 'two' }, [
    h('bdi', null, p.text || '(images)'),
    h('small', { class: 'dim' }, [age(p.time), p.files.length ? `${p.files.length} ${p.files.length === 1 ? 'file' : 'files'} changed` : ''].filter(Boolean).join(' · '))], async () => {
    close();
    try {
      await before(api, session, p, went);
    } catch (err) {
      failed(err);
    }
  })))));
}

async function before(api, session, p, went) {
  const plan = await api.undoPlan(session, p.prompt);
  const view = shown(plan);
  const files = plan.files.length > 0;
  dialog('What to restore?', () => [h('p', null, 'To before: ', h('strong', null, h('bdi', null, p.text))),
    h('p', { class: 'dim' }, 'The conversation goes on in a new session without this prompt and what followed. The old session keeps all.'), view.e],
  (close) => {
    const go = (what, done) => attempt(close, async () => {
      const to = await api.rewind(session, { prompt: p.prompt, what, ...(what === 'conversation' ? {} : { hash: plan.hash, confirmed: view.confirmed() }) });
      say(done);
      if (what !== 'files') went(to);
    });
    return [button({}, 'Cancel', close), files && button({}, 'Files', go('files', 'The files went back')),
      button({ class: files ? '' : 'main' }, 'Conversation', go('conversation', 'A new session goes on from there')),
      files && button({ class: 'main' }, 'Both', go('both', 'Files and conversation went back'))].filter(Boolean);
  });
}
