// A new session, and what this browser may do.

import { h, button, swap } from './dom.js';
import { dialog, failed } from './dialog.js';
import { alerts } from './alerts.js';
import { push } from './push.js';
import { age } from './words.js';

// create asks where a new session works.
export function create(api, hello, opened) {
  const folder = h('select', null, (hello.folders ?? []).map((f) => h('option', { value: f }, f)));
  const tree = h('input', { type: 'checkbox' });
  const prompt = h('textarea', { rows: '3', maxlength: '200000' });
  dialog('New session', () => [
    h('label', { class: 'field' }, 'Folder', folder),
    h('label', { class: 'tick' }, tree, h('span', null, 'In a new working tree of git, on a branch of its own')),
    h('label', { class: 'field' }, 'What is to be done?', prompt),
  ], (close) => [button({}, 'Cancel', close), button({ class: 'main' }, 'Begin', async () => {
    try {
      const s = await api.create({ folder: folder.value, text: prompt.value.trim(), ...(tree.checked ? { worktree: true } : {}) });
      close();
      opened(s.id);
    } catch (e) {
      close();
      failed(e);
    }
  })]);
  prompt.focus();
}

const rightsInWords = { watch: 'may watch', answer: 'may watch and answer questions', steer: 'may watch, answer and steer' };

export function settings(api, hello) {
  const devices = h('ul', { class: 'devices' });
  const tick = (label, on, change) => h('label', { class: 'tick' }, h('input', { type: 'checkbox', checked: on, on: { change: async (e) => {
    try {
      e.target.checked = await change(e.target.checked);
    } catch (err) {
      e.target.checked = !e.target.checked;
      failed(err);
    }
  } } }), h('span', null, label));
  const away = h('div', null);
  if (push.can()) {
    push.on().catch(() => false).then((on) => swap(away, tick('A notification when pawl asks or a turn ends, even if this page is closed', on, push.set),
      h('p', { class: 'dim' }, 'It goes through the push service of your browser, encrypted: the title of the session, and what happened.')));
  }
  dialog('Settings', () => [
    h('p', null, `This device, ${hello.device}, ${rightsInWords[hello.rights]}.`),
    tick('A sound when pawl asks', alerts.sound(), (on) => alerts.setSound(on)),
    alerts.canNotify() && tick('A notification when pawl asks and this page is open somewhere', alerts.notices(), (on) => alerts.setNotices(on)),
    push.can() && away,
    h('h3', null, 'Devices'), devices,
    h('p', { class: 'dim' }, `pawl ${hello.version}`),
  ]);
  const draw = async () => {
    try {
      const { devices: all } = await api.devices();
      swap(devices, all.map((d) => h('li', null, h('span', { class: 'grow' }, h('bdi', null, d.name), h('span', { class: 'dim' }, ` ${rightsInWords[d.rights]} · seen ${age(d.seen)}${d.this ? ' · this one' : ''}`)),
        (d.this || hello.rights === 'steer') && button({ class: 'small danger', 'aria-label': `Revoke ${d.name}` }, 'Revoke', async () => {
          try {
            await api.revoke(d.id);
            await draw();
          } catch (e) {
            failed(e);
          }
        }))));
    } catch (e) {
      if (!e.quiet) swap(devices, h('li', null, e.message));
    }
  };
  draw();
}
