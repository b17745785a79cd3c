// How somebody who looks elsewhere is told that pawl asks: the title always, a sound and
// a notification if they want it.

import { address } from './words.js';

let context = null;
let name = 'pawl';
let waiting = 0;
const told = new Set(); // questions

const is = (what) => localStorage.getItem(what) === 'on';
const set = (what, on) => localStorage.setItem(what, on ? 'on' : 'off');

function title() {
  document.title = (waiting ? `(${waiting}) ` : '') + name;
}

export const alerts = {
  // page is called with the name of what is shown, waits with how many sessions wait.
  page(shown) {
    name = shown;
    title();
  },
  waits(n) {
    waiting = n;
    title();
    navigator.setAppBadge?.(n).catch(() => {}); // only an installed page has one
  },
  // asked is called with the state of a session that waits.
  asked(state) {
    const fresh = (state.questions ?? []).filter((q) => !told.has(q.id));
    fresh.forEach((q) => told.add(q.id));
    if (!fresh.length) return;
    if (alerts.sound()) beep();
    if (alerts.notices() && document.visibilityState === 'hidden') {
      const n = new Notification(state.title || 'pawl', { body: 'waits for your answer', tag: state.session, icon: '/icon.svg' });
      n.onclick = () => {
        window.focus();
        location.hash = address(state.session);
        n.close();
      };
    }
  },
  sound: () => is('pawl-sound'),
  setSound(on) {
    set('pawl-sound', on);
    if (on) beep();
    return on;
  },
  // Phones show none for a page.
  canNotify: () => 'Notification' in window && isSecureContext && !matchMedia('(pointer: coarse)').matches,
  notices: () => alerts.canNotify() && is('pawl-notices') && Notification.permission === 'granted',
  async setNotices(on) {
    if (on && await Notification.requestPermission() !== 'granted') throw new Error('The browser does not allow notifications of this page. Its settings for the site can change that.');
    set('pawl-notices', on);
    return on;
  },
};

// beep is two short tones.
function beep() {
  try {
    context ??= new AudioContext();
    const from = context.currentTime;
    for (const [at, pitch] of [[0, 660], [0.16, 880]]) {
      const tone = context.createOscillator();
      const volume = context.createGain();
      tone.frequency.value = pitch;
      volume.gain.setValueAtTime(0.08, from + at);
      volume.gain.exponentialRampToValueAtTime(0.001, from + at + 0.14);
      tone.connect(volume).connect(context.destination);
      tone.start(from + at);
      tone.stop(from + at + 0.15);
    }
  } catch {
    // a browser plays nothing before the person touched the page
  }
}
