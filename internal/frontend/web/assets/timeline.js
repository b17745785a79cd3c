// The timeline of a session: its newest blocks, older ones when a person scrolls up,
// and the text that streams.

import { h, button, swap } from './dom.js';
import { nodes } from './fragment.js';

// most is how many blocks the page has. A browser needs seconds to lay out thousands
// of them, even with content-visibility.
export const most = 400;
const page = 100;

// load(before) returns { blocks, more } of the blocks before one, '' for the newest.
export function timeline({ load, failed }) {
  const older = h('div', { class: 'older' });
  const live = h('div', { class: 'live' });
  const list = h('div', { class: 'timeline', role: 'log', 'aria-live': 'off', 'aria-label': 'Conversation' }, older);
  const scroller = h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Conversation, scrolls' }, list, live);
  const down = button({ class: 'down small', hidden: true }, '↓ Newest', () => newest());
  const stage = h('div', { class: 'stage' }, scroller, down);

  const shown = new Map(); // id → { e, text, length }
  let before = false; // there are older blocks than the first
  let after = false; // there are newer blocks than the last, which were dropped while somebody read older ones
  let loading = false;
  let stuck = true; // the end is in view, and stays there
  let generation = 0;
  let top = 0; // where it was scrolled to
  let room = 0; // how high the view was then
  let frame = 0;
  let early = null; // changes that came while the newest blocks were loading

  const atEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 48;

  function settle() {
    if (frame) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      bottom();
    });
  }

  function bottom() {
    if (stuck) scroller.scrollTop = scroller.scrollHeight;
    top = scroller.scrollTop;
    room = scroller.clientHeight;
    down.hidden = stuck && !after;
  }

  scroller.addEventListener('scroll', () => {
    // A scroll is told late: more text may stand below by then. Only a move upwards is a
    // person who leaves the end.
    if (atEnd()) stuck = !after;
    else if (scroller.scrollTop < top && scroller.clientHeight === room) stuck = false; // another height moves it, too
    top = scroller.scrollTop;
    room = scroller.clientHeight;
    down.hidden = stuck;
    if (scroller.scrollTop < 400 && before && !loading) more();
    if (after && atEnd()) newest();
  }, { passive: true });
  new ResizeObserver(settle).observe(scroller);
  new ResizeObserver(settle).observe(list);

  function make(b) {
    const e = h('div', { class: 'block' });
    e.dataset.kind = b.kind ?? '';
    const entry = { e, text: null, length: 0 };
    draw(entry, b);
    return entry;
  }

  // draw shows a block as it is now. Folds that somebody opened stay open.
  function draw(entry, b) {
    const open = [...entry.e.querySelectorAll('details')].map((d) => d.open);
    entry.e.classList.toggle('mine', b.kind === 'prompt');
    swap(entry.e, b.kind === 'prompt' && h('h2', { class: 'words' }, 'You'), nodes(b.html ?? ''));
    if (open.length) entry.e.querySelectorAll('details').forEach((d, i) => { if (i < open.length) d.open = open[i]; });
    entry.text = null;
    entry.length = 0;
    if (b.open && b.text) stream(entry, 0, b.text, b.kind);
  }

  // stream adds text that a block gets while it is open. offset counts UTF-16 units: a
  // piece that was seen already is dropped, and one after a gap is refused.
  function stream(entry, offset, text, kind) {
    if (!entry.text) {
      entry.text = document.createTextNode('');
      const into = kind === 'reply' ? h('div', { class: 'reply streams', dir: 'auto' }, entry.text)
        : kind === 'thinking' ? h('details', { class: 'fold', open: false }, h('summary', null, 'Thinking…'), h('div', { class: 'quiet', dir: 'auto' }, entry.text))
          : h('pre', { class: 'tail', tabindex: '0', role: 'group', 'aria-label': 'output' }, entry.text);
      entry.e.append(into);
    }
    if (offset > entry.length) return false;
    const fresh = text.slice(entry.length - offset);
    if (!fresh) return true;
    entry.length += fresh.length;
    entry.text.appendData(fresh);
    const pre = entry.text.parentElement;
    if (pre.tagName === 'PRE') {
      if (entry.text.length > 20_000) entry.text.deleteData(0, entry.text.length - 10_000); // the whole is shown at the end
      pre.scrollTop = pre.scrollHeight;
    }
    return true;
  }

  // trim drops blocks so that at most `most` are left, from the end that is out of sight.
  function trim(fromEnd) {
    while (shown.size > most) {
      const ids = [...shown.keys()];
      const id = fromEnd ? ids[ids.length - 1] : ids[0];
      shown.get(id).e.remove();
      shown.delete(id);
      if (fromEnd) after = true;
      else before = true;
    }
    head();
  }

  function head() {
    swap(older, before ? button({ class: 'small' }, 'Older', () => more()) : null);
  }

  async function more() {
    if (loading || !before) return;
    const first = shown.keys().next().value;
    const mine = generation;
    loading = true;
    try {
      const got = await load(first, page);
      if (mine !== generation) return;
      const height = scroller.scrollHeight;
      const place = scroller.scrollTop;
      const entries = got.blocks.filter((b) => !shown.has(b.id)).map((b) => [b.id, make(b)]);
      older.after(...entries.map(([, x]) => x.e));
      const rest = [...shown];
      shown.clear();
      for (const [id, x] of [...entries, ...rest]) shown.set(id, x);
      before = got.more;
      scroller.scrollTop = place + scroller.scrollHeight - height; // what was read stays in place
      trim(true);
      down.hidden = stuck && !after;
    } catch (e) {
      failed(e);
    } finally {
      if (mine === generation) loading = false;
    }
  }

  // newest shows the end of the conversation.
  async function newest() {
    if (!after) {
      stuck = true;
      settle();
      return;
    }
    await reload();
  }

  // reload loads the newest blocks. What streams meanwhile is kept and applied to them.
  async function reload() {
    const mine = ++generation;
    loading = true;
    early = [];
    try {
      const got = await load('', page);
      if (mine !== generation) return;
      const changes = early;
      early = null;
      shown.clear();
      const entries = got.blocks.map((b) => [b.id, make(b)]);
      swap(list, older, entries.map(([, x]) => x.e));
      for (const [id, x] of entries) shown.set(id, x);
      before = got.more;
      after = false;
      stuck = true;
      head();
      changes.forEach((f) => f());
      settle();
    } finally {
      if (mine === generation) {
        loading = false;
        early = null;
      }
    }
  }

  // again loads what may have changed, unless somebody reads older blocks: they load it
  // when they come back to the end.
  async function again() {
    if (stuck || shown.size === 0) return reload();
    after = true;
    settle();
  }

  const later = (f) => {
    if (!early) return false;
    early.push(f);
    return true;
  };

  function block(b) {
    if (later(() => block(b))) return;
    const old = shown.get(b.id);
    if (old) draw(old, b);
    else if (after) return; // it is loaded when the end is shown again
    else {
      const entry = make(b);
      shown.set(b.id, entry);
      list.append(entry.e);
      if (stuck) trim(false);
      else if (shown.size > most + page) trim(true);
    }
    bottom(); // at once: a block that became shorter moves the page, which is no person's scroll
  }

  // piece adds streamed text; false if pieces before it are missing.
  function piece(p) {
    if (early) {
      early.push(() => piece(p));
      return true;
    }
    const entry = shown.get(p.id);
    if (!entry) return after;
    const ok = stream(entry, p.offset, p.text, entry.e.dataset.kind);
    settle();
    return ok;
  }

  function gone(id) {
    if (later(() => gone(id))) return;
    shown.get(id)?.e.remove();
    shown.delete(id);
  }

  return {
    e: stage, live, reload, again, block, piece, gone,
    toEnd() { stuck = true; newest(); },
  };
}
