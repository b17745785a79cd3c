// How a session goes, in pictures: what `pawl stats` counts. Each picture has its figures
// in a table, for those who would rather read, or listen.

import { h, s, say, swap } from './dom.js';
import { dialog } from './dialog.js';
import { tokens } from './words.js';

const wide = 320;
const high = 80;

const dollars = (n) => `$${n.toFixed(n < 10 ? 2 : 0)}`;

// course opens the view. size is the model's window in tokens, 0 if it is not known. It
// returns a function that loads it again.
export function course(api, session, size) {
  const box = h('div', null, h('p', { class: 'dim' }, 'Counting…'));
  const d = dialog('How it goes', () => box);
  d.classList.add('large');
  const load = async () => {
    try {
      const all = await api.stats(session);
      const open = [...box.querySelectorAll('details')].map((x) => x.open);
      swap(box, draw(all, size));
      box.querySelectorAll('details').forEach((x, i) => { x.open = open[i] ?? x.open; });
    } catch (e) {
      if (!e.quiet) swap(box, h('p', { class: 'wrong' }, e.message));
    }
  };
  load().then(() => say('Pictures are shown'));
  return () => d.open && load();
}

function draw(all, size) {
  const { replies, signals, checks } = all;
  if (!replies.length) return h('p', null, 'The model has not answered yet.');
  const last = replies[replies.length - 1];
  const fullest = Math.max(...replies.map((r) => r.window));
  const table = (head, value) => rows(['Reply', head], few(replies).map((r) => [r.reply, value(r)]));
  return [
    figure('Cost', `${dollars(last.usd)}${all.unknown ? ' or more' : ''} for ${last.reply} replies`,
      line(replies, (r) => r.usd, last.usd, dollars(last.usd)), table('Cost so far', (r) => dollars(r.usd))),
    figure('Tokens', `${tokens(last.tokens)} in ${last.reply} replies`,
      line(replies, (r) => r.tokens, last.tokens, tokens(last.tokens)), table('Tokens so far', (r) => tokens(r.tokens))),
    figure('Window', `up to ${tokens(fullest)}${size ? ` of ${tokens(size)}` : ''} tokens${signals.length ? `; the marks are loops` : ''}`,
      line(replies, (r) => r.window, size || fullest, tokens(size || fullest), signals), table('Tokens in the window', (r) => tokens(r.window))),
    signals.length > 0 && h('section', null, h('h3', null, 'Went in circles'), h('ul', { class: 'files' }, signals.map((x) => h('li', null, h('details', { class: 'fold' },
      h('summary', null, `After reply ${x.reply}: `, h('bdi', null, x.text), h('span', { class: 'dim' }, ` ${levels[x.level] ?? x.level}`)),
      h('ul', null, x.evidence.map((e) => h('li', null, h('bdi', null, e))))))))),
    checks.length > 0 && figure('Checks', `${checks.filter((c) => c.ok).length} of ${checks.length} passed`, dots(checks),
      rows(['After reply', 'Check', 'Result'], checks.map((c) => [c.reply, c.check, c.said]))),
    all.tools.length > 0 && h('section', null, h('h3', null, 'Calls by tool'), bars(all.tools)),
  ];
}

const levels = { recovery: 'the model was warned', block: 'calls were blocked', halt: 'the run was stopped' };

function figure(name, words, picture, table) {
  return h('figure', { class: 'picture' }, h('figcaption', null, h('h3', null, name), h('span', { class: 'dim' }, words)),
    picture, h('details', { class: 'fold' }, h('summary', null, `${name} as a table`), table));
}

// few keeps about twenty of many.
const few = (all) => (all.length <= 20 ? all : [...Array(20).keys()].map((i) => all[Math.round((i * (all.length - 1)) / 19)]));

function rows(head, body) {
  return h('div', { class: 'wide', tabindex: '0', role: 'group', 'aria-label': 'Table' }, h('table', null, h('thead', null, h('tr', null, head.map((x) => h('th', { scope: 'col' }, x)))),
    h('tbody', null, body.map((r) => h('tr', null, r.map((x) => h('td', null, h('bdi', null, String(x)))))))));
}

const svg = (...children) => s('svg', { viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: 'none', 'aria-hidden': 'true', focusable: 'false' }, ...children);

// line draws values over the replies; marks are lines from top to bottom.
function line(points, value, most, top, marks = []) {
  const from = points[0].reply;
  const span = Math.max(1, points[points.length - 1].reply - from);
  const x = (n) => (((n - from) / span) * wide).toFixed(1);
  const y = (v) => (high - 1 - (most ? Math.min(v / most, 1) : 0) * (high - 4)).toFixed(1);
  const path = points.map((p) => `${x(p.reply)},${y(value(p))}`);
  if (path.length === 1) path.push(`${wide},${y(value(points[0]))}`);
  return h('div', { class: 'plot' }, h('span', { class: 'top', 'aria-hidden': 'true' }, top), svg(
    s('polygon', { class: 'area', points: `0,${high} ${path.join(' ')} ${wide},${high}` }),
    s('polyline', { class: 'line', points: path.join(' ') }),
    marks.map((m) => s('line', { class: `mark ${m.level === 'recovery' ? '' : 'bad'}`, x1: x(Math.max(from, m.reply)), x2: x(Math.max(from, m.reply)), y1: 0, y2: high }))));
}

// dots draws runs of checks: a full bar passed, an empty one failed.
function dots(checks) {
  const shown = checks.slice(-60);
  const step = wide / Math.max(12, shown.length);
  return h('div', { class: 'plot low' }, svg(shown.map((c, i) => s('rect', { class: c.ok ? 'pass' : 'fail', x: (i * step + 1).toFixed(1), y: c.ok ? 10 : 40, width: (step - 2).toFixed(1), height: c.ok ? high - 10 : high - 40 }))));
}

function bars(tools) {
  const most = Math.max(...tools.map((t) => t.calls));
  return h('div', { class: 'wide', tabindex: '0', role: 'group', 'aria-label': 'Calls by tool' }, h('table', { class: 'bars' },
    h('thead', null, h('tr', null, ['Tool', 'Calls', 'Failed', ''].map((x) => (x ? h('th', { scope: 'col' }, x) : h('td', null))))),
    h('tbody', null, tools.map((t) => h('tr', null, h('th', { scope: 'row' }, h('bdi', null, t.tool)), h('td', { class: 'right' }, String(t.calls)), h('td', { class: 'right' }, String(t.failed)),
      h('td', { class: 'bar-cell' }, s('svg', { viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
        s('rect', { class: 'pass', width: ((100 * (t.calls - t.failed)) / most).toFixed(1), height: 10 }),
        s('rect', { class: 'fail', x: ((100 * (t.calls - t.failed)) / most).toFixed(1), width: ((100 * t.failed) / most).toFixed(1), height: 10 }))))))));
}
