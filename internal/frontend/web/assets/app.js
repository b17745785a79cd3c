// The page of `pawl serve`: pairing, the list of sessions, and one session.

import { h, button, id, say, swap } from './dom.js';
import { api, events, whenDenied } from './api.js';
import { follow } from './stream.js';
import { list } from './list.js';
import { session } from './session.js';
import { pairing, codeInAddress } from './pair.js';
import { create, settings } from './settings.js';
import { alerts } from './alerts.js';
import { failed } from './dialog.js';
import { address } from './words.js';

let hello = null;
let side = null;
let open = null; // the session that is shown
let stream = null;
let downSince = 0;
let carried = null; // a text for the input of the session that is opened next
const early = new Set(); // for each time that the session is being loaded: the states that came meanwhile

const app = id('app');

addEventListener('hashchange', () => (location.hash.startsWith('#code=') ? location.reload() : route()));
whenDenied(() => { if (hello) pair('This device is not known any more. Pair it again.'); });
start();

async function start() {
  const code = codeInAddress();
  let wrong = '';
  if (code) await api.pair(code).catch((e) => { wrong = e.message; });
  try {
    hello = await api.hello();
  } catch (e) {
    if (e.status === 401) return pair(wrong);
    swap(id('main'), h('div', { class: 'empty' }, h('p', null, e.message), e.hint && h('p', null, e.hint), button({ class: 'main' }, 'Try again', start)));
    return;
  }
  await shell();
}

function pair(message) {
  stream?.close();
  stream = null;
  hello = null;
  side = null;
  open = null;
  clearTimeout(downSince);
  alerts.page('Pair this device · pawl');
  document.body.classList.remove('asking');
  app.className = 'at-pair';
  swap(id('banner'));
  swap(app, pairing(message, start));
  app.querySelector('input').focus();
}

async function shell() {
  side = list({ maySteer: hello.rights === 'steer', create: () => create(api, hello, (s) => { location.hash = address(s); }), settings: () => settings(api, hello) });
  swap(app, side.e, nothing());
  stream = follow({ ...events, cursor: hello.cursor, on: heard, up: connection, busy: () => alerts.sound() || alerts.notices() });
  try {
    listed(await api.sessions());
  } catch (e) {
    if (!e.quiet) failed(e);
  }
  await route();
}

function listed(d) {
  side.set(d.sessions);
  alerts.waits(side.waiting());
}

const nothing = () => h('main', { id: 'main', tabindex: '-1', 'aria-label': 'Session' }, h('div', { class: 'empty' }, h('p', null, 'Choose a session.')));

async function route() {
  if (!side) return;
  const m = /^#\/s\/(.+)$/.exec(location.hash);
  const name = m ? decodeURIComponent(m[1]) : '';
  if (open?.name === name && name) return;
  document.body.classList.remove('asking');
  side.select(name);
  app.className = name ? 'at-session' : 'at-list';
  if (!name) {
    open = null;
    alerts.page('pawl');
    swap(app, side.e, nothing());
    side.focus();
    return;
  }
  const s = session({ name, api, rights: hello.rights, leave: () => { location.hash = ''; }, gone: (e) => { location.hash = ''; failed(e); }, enter });
  open = s;
  swap(app, side.e, s.e);
  s.focus();
  await reload(s);
}

// enter goes to another session; a text that came back belongs into its input.
function enter(id, text) {
  carried = text ? { id, text } : null;
  location.hash = address(id);
}

// reload loads a session. Blocks take care of their own order; a state that came
// meanwhile is newer than the one that was asked for.
async function reload(s, again) {
  const states = [];
  early.add(states);
  try {
    await s.load(again);
  } catch (e) {
    if (!e.quiet) failed(e);
  } finally {
    early.delete(states);
    if (open === s) {
      states.forEach((x) => s.set(x));
      alerts.page(`${s.title()} · pawl`);
      if (carried?.id === s.name) {
        s.put(carried.text);
        carried = null;
      }
    }
  }
}

function heard(kind, data) {
  switch (kind) {
    case 'sessions':
      listed(data);
      return;
    case 'state':
      if (data.status === 'waiting') alerts.asked(data);
      break;
    case 'bye':
      say('pawl ended');
      return;
    case 'reset':
      api.sessions().then(listed, () => {}); // a failure is shown as a lost connection
      if (open) reload(open, true);
      return;
  }
  if (!open || data.session !== open.name) return;
  if (kind === 'state') {
    for (const states of early) states.push(data);
    open.set(data);
    alerts.page(`${data.title || 'New session'} · pawl`);
  } else if (kind === 'block') open.block(data);
  else if (kind === 'piece') open.piece(data);
  else if (kind === 'gone') open.gone(data.id);
  else if (kind === 'takenback' && document.visibilityState === 'visible') open.put(data.text);
}

function connection(state) {
  if (state === 'up') {
    clearTimeout(downSince);
    if (id('banner').firstChild) {
      swap(id('banner'));
      say('Connected again');
    }
    return;
  }
  clearTimeout(downSince);
  downSince = setTimeout(() => {
    swap(id('banner'), h('div', { class: 'lost' }, h('span', null, 'Connection lost. Trying again…'), button({}, 'Now', () => stream?.now())));
    api.hello().catch(() => {}); // says whether the device is still known
  }, 1200);
}
