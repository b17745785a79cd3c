// The list of sessions: those that wait for an answer first, then those that run.

import { h, button, id, swap } from './dom.js';
import { icon } from './icons.js';
import { address, age } from './words.js';

const groups = [['waiting', 'Waiting for you'], ['running', 'Running'], ['idle', 'Idle']];

// list draws the sessions into a navigation landmark.
export function list({ create, settings, maySteer }) {
  const box = h('div', { class: 'scroll' });
  const e = h('nav', { id: 'side', 'aria-label': 'Sessions' },
    h('div', { class: 'bar' }, h('h1', { tabindex: '-1', id: 'list-title' }, 'Sessions'),
      button({ class: 'plain icon', 'aria-label': 'Settings', title: 'Settings' }, icon('more'), settings),
      maySteer && button({ class: 'icon main', 'aria-label': 'New session', title: 'New session' }, icon('plus'), create)),
    box);
  let rows = [];
  let current = '';

  function draw() {
    const active = document.activeElement?.closest?.('.sessions a')?.getAttribute('href');
    const parts = groups.map(([status, name]) => {
      const of = rows.filter((r) => group(r) === status);
      return of.length ? [h('h2', { class: 'group', id: `group-${status}` }, name), h('ul', { class: 'sessions', 'aria-labelledby': `group-${status}` }, of.map(row))] : null;
    });
    swap(box, rows.length ? parts : h('p', { class: 'empty' }, maySteer ? 'No session yet. Begin one with +, or run pawl in a terminal.' : 'No session yet. Run pawl in a terminal.'));
    if (active) box.querySelector(`a[href="${CSS.escape(active)}"]`)?.focus();
  }

  function row(r) {
    const said = group(r) === 'waiting' ? (r.asks || 'asks you something') : [r.place, r.updated && age(r.updated), r.cost].filter(Boolean).join(' · ');
    return h('li', null, h('a', { href: address(r.id), 'aria-current': r.id === current ? 'page' : null },
      h('span', { class: 'title' }, h('span', { class: `dot ${group(r)}` }), h('bdi', null, r.title || 'New session')),
      h('span', { class: `about${group(r) === 'waiting' ? ' asks' : ''}` }, h('bdi', null, said))));
  }

  return {
    e,
    set(all) { rows = all; draw(); },
    select(s) { current = s; draw(); },
    waiting: () => rows.filter((r) => group(r) === 'waiting').length,
    focus: () => id('list-title')?.focus(),
  };
}

const group = (r) => (groups.some(([g]) => g === r.status) ? r.status : 'idle');
