// How somebody who looks elsewhere is told that pawl asks: the title always, a sound and
// a notification if they want it.

const soundKey = 'pawl-sound';
let waitingNow = () => 0;
let context = null;
const told = new Set(); // questions

export const alerts = {
  begin(waiting) {
    waitingNow = waiting;
    addEventListener('hashchange', () => alerts.title(waitingNow()));
  },
  title(n) {
    const rest = document.title.replace(/^\(\d+\) /, '');
    document.title = n ? `(${n}) ${rest}` : rest;
    navigator.setAppBadge?.(n).catch(() => {});
  },
  // asked is called with the state of a session that waits.
  asked(state) {
    const fresh = (state.questions ?? []).filter((q) => !told.has(q.id));
    fresh.forEach((q) => told.add(q.id));
    if (fresh.length && alerts.sound()) beep();
  },
  sound: () => localStorage.getItem(soundKey) === 'on',
  setSound(on) {
    localStorage.setItem(soundKey, on ? 'on' : 'off');
    if (on) beep();
    return on;
  },
  canPush: () => 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window && isSecureContext,
  pushes: () => localStorage.getItem('pawl-push') === 'on' && Notification.permission === 'granted',
  async setPush(on, key, api) {
    const worker = await navigator.serviceWorker.register('/sw.js');
    const old = await worker.pushManager.getSubscription();
    if (!on) {
      await old?.unsubscribe();
      localStorage.setItem('pawl-push', 'off');
      return false;
    }
    if (await Notification.requestPermission() !== 'granted') throw new Error('The browser does not allow notifications of this page. Its settings for the site can change that.');
    const now = old ?? await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    await api.push(now.toJSON());
    localStorage.setItem('pawl-push', 'on');
    return true;
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
