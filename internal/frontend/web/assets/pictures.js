// Pictures where people would rather look than read. Each has a table for those who
// would rather read.

import { h, s } from './dom.js';

const wide = 560;
const high = 120;

// pictures draws what the session cost and did.
export async function pictures(api, name) {
  const d = await api.stats(name);
  const out = [];
  for (const line of d.lines ?? []) if (line.points.length > 1) out.push(curve(line));
  for (const bars of d.bars ?? []) if (bars.of.length) out.push(columns(bars));
  return out.length ? out : [h('p', { class: 'dim' }, 'Nothing to draw yet: the session has not asked a model.')];
}

// curve draws values over requests. marks are the points where the run was warned.
function curve({ name, unit, points, marks = [] }) {
  const top = Math.max(...points.map((p) => p.y), 1e-9);
  const left = points[0].x;
  const span = points[points.length - 1].x - left || 1;
  const x = (p) => ((p.x - left) / span) * wide;
  const y = (p) => high - (p.y / top) * high;
  const path = points.map((p, i) => `${i ? 'L' : 'M'}${x(p).toFixed(1)} ${y(p).toFixed(1)}`).join('');
  const last = points[points.length - 1];
  return h('figure', { class: 'chart' }, h('figcaption', null, `${name}: ${last.label ?? last.y}${unit ? ` ${unit}` : ''}`),
    s('svg', { viewBox: `0 -8 ${wide} ${high + 16}`, role: 'img', 'aria-label': `${name}, from ${points[0].label ?? points[0].y} to ${last.label ?? last.y}` },
      s('path', { class: 'axis', d: `M0 ${high}H${wide}` }),
      s('path', { class: 'area', d: `${path}L${wide} ${high}L0 ${high}Z` }),
      s('path', { class: 'line', d: path }),
      ...marks.map((m) => s('path', { class: 'warned', d: `M${x(m).toFixed(1)} 0V${high}` }))),
    table(name, points.filter((_, i) => i % Math.ceil(points.length / 20) === 0).map((p) => [p.x, p.label ?? p.y])));
}

function columns({ name, of }) {
  const top = Math.max(...of.map((b) => b.y), 1e-9);
  const row = 24;
  return h('figure', { class: 'chart' }, h('figcaption', null, name),
    s('svg', { viewBox: `0 0 ${wide} ${of.length * row}`, role: 'img', 'aria-label': name }, ...of.flatMap((b, i) => [
      s('rect', { class: 'bar-of', x: 150, y: i * row + 5, width: Math.max(1, (b.y / top) * (wide - 210)), height: row - 10, rx: 2 }),
      s('text', { x: 142, y: i * row + 16, 'text-anchor': 'end', text: b.name.slice(0, 22) }),
      s('text', { x: 156 + Math.max(1, (b.y / top) * (wide - 210)), y: i * row + 16, text: b.label ?? String(b.y) }),
    ])),
    table(name, of.map((b) => [b.name, b.label ?? b.y])));
}

const table = (name, rows) => h('details', { class: 'fold' }, h('summary', null, 'As a table'),
  h('div', { class: 'wide', tabindex: '0', role: 'group', 'aria-label': `table of ${name}` }, h('table', null, h('tbody', null, rows.map(([a, b]) => h('tr', null, h('th', { scope: 'row' }, String(a)), h('td', { class: 'right' }, String(b))))))));

// board lists a swarm's tasks.
export async function board(api, name) {
  const d = await api.swarm(name);
  return [h('p', null, h('bdi', null, d.goal), ' ', h('span', { class: 'dim' }, d.said ?? '')),
    h('ul', { class: 'tasks' }, (d.tasks ?? []).map((t) => h('li', null, h('strong', null, h('bdi', null, t.title)), h('div', { class: 'dim' }, [t.state, t.machine, t.cost].filter(Boolean).join(' · ')))))];
}
