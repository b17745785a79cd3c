// The composer: text and images for the model, and what waits to be delivered.

import { h, button, swap, say, words } from './dom.js';
import { icon } from './icons.js';
import { kinds, tray } from './images.js';

const drafts = new Map(); // session → text: a draft outlives a look at another session

// composer sends prompts. send(text, images, id) may fail: the text stays then.
export function composer({ session, send, withdraw, interrupt, failed }) {
  const touch = matchMedia('(pointer: coarse)').matches;
  const box = h('textarea', { rows: '1', 'aria-label': 'Message', placeholder: 'Message', autocomplete: 'off', maxlength: '200000', enterkeyhint: touch ? 'enter' : 'send' });
  const images = tray({ failed });
  const queue = h('ul', { class: 'queue', 'aria-label': 'Waiting to be delivered', hidden: true });
  const file = h('input', { type: 'file', accept: kinds.join(','), multiple: true, hidden: true, 'aria-label': 'Images', on: { change: () => take(file) } });
  const camera = h('input', { type: 'file', accept: 'image/*', capture: 'environment', hidden: true, 'aria-label': 'Camera', on: { change: () => take(camera) } });
  const stop = button({ class: 'icon', 'aria-label': 'Interrupt', title: 'Interrupt (Esc)', hidden: true }, icon('stop'), act(interrupt));
  const go = button({ class: 'icon main', 'aria-label': 'Send', title: 'Send' }, icon('send'), submit);
  const hint = h('p', { class: 'hint' });
  const frame = h('div', { class: 'box' },
    button({ class: 'icon', 'aria-label': 'Add images', title: 'Add images' }, icon('image'), () => file.click()),
    touch && button({ class: 'icon', 'aria-label': 'Take a photo', title: 'Take a photo' }, icon('camera'), () => camera.click()),
    box, stop, go, file, camera);
  const e = h('form', { class: 'composer', 'aria-label': 'Message to the model', on: { submit: (ev) => { ev.preventDefault(); submit(); } } }, queue, images.e, frame, hint);
  let running = false;
  let attempt = null; // the prompt that is being sent: the same id again if it failed, so that it counts once

  box.value = drafts.get(session) ?? '';
  box.addEventListener('input', () => { drafts.set(session, box.value); grow(); });
  box.addEventListener('keydown', (ev) => {
    if (ev.isComposing) return;
    if (ev.key === 'Enter' && !ev.shiftKey && !(touch && !ev.ctrlKey && !ev.metaKey)) {
      ev.preventDefault();
      submit();
    } else if (ev.key === 'Escape' && running) {
      ev.preventDefault();
      act(interrupt)();
    }
  });
  box.addEventListener('paste', (ev) => {
    const files = [...(ev.clipboardData?.files ?? [])];
    if (files.length) {
      ev.preventDefault();
      images.add(files);
    }
  });
  frame.addEventListener('dragover', (ev) => { ev.preventDefault(); frame.classList.add('dropping'); });
  frame.addEventListener('dragleave', () => frame.classList.remove('dropping'));
  frame.addEventListener('drop', (ev) => { ev.preventDefault(); frame.classList.remove('dropping'); images.add([...ev.dataTransfer.files]); });

  function take(input) {
    images.add([...input.files]);
    input.value = '';
    box.focus();
  }

  function act(f) {
    return async () => {
      try {
        await f();
      } catch (err) {
        failed(err);
      }
    };
  }

  function grow() {
    box.rows = Math.min(10, Math.max(1, box.value.split('\n').length));
    if (box.scrollHeight > box.clientHeight + 4) box.rows = Math.min(10, box.rows + 1 + Math.floor((box.scrollHeight - box.clientHeight) / 24));
  }

  async function submit() {
    const text = box.value.trim();
    if ((!text && !images.count()) || go.getAttribute('aria-busy') === 'true') return;
    const key = text + '\0' + images.count();
    if (attempt?.key !== key) attempt = { key, id: unique() };
    go.setAttribute('aria-busy', 'true');
    try {
      await send(text, images.get(), attempt.id);
      attempt = null;
      if (box.value.trim() === text) box.value = '';
      drafts.delete(session);
      images.clear();
      grow();
      say(running ? 'Waits for the next step' : 'Sent');
    } catch (err) {
      failed(err);
    } finally {
      go.removeAttribute('aria-busy');
    }
  }

  grow();
  return {
    e,
    focus: () => box.focus(),
    // put puts text that comes back into the input, before what is there.
    put(text) {
      box.value = box.value.trim() ? `${text}\n${box.value}` : text;
      drafts.set(session, box.value);
      grow();
      box.focus();
    },
    set({ busy, queued, may }) {
      running = busy;
      stop.hidden = !busy;
      go.title = busy ? 'Send: delivered before the next step' : 'Send';
      box.placeholder = busy && !touch ? 'Message, delivered before the next step' : 'Message';
      hint.textContent = touch ? '' : 'Enter sends, Shift+Enter begins a line' + (busy ? ', Esc interrupts' : '');
      hint.hidden = touch;
      queue.hidden = !queued.length;
      swap(queue, queued.map((q) => h('li', null, words('waits: '), h('bdi', { class: 'text' }, q.text),
        button({ class: 'plain small', 'aria-label': `Withdraw: ${q.text.slice(0, 60)}` }, 'Withdraw', act(() => withdraw(q))))));
      e.hidden = !may;
    },
  };
}

// unique returns an id for a prompt.
export function unique() {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((b) => b.toString(16).padStart(2, '0')).join('');
}
