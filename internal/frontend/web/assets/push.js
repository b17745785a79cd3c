// Being told while the page is closed: Web Push, where the browser has it and the page
// came over HTTPS or from this machine. It is off until somebody switches it on.

import { api } from './api.js';

const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));

export const push = {
  can: () => isSecureContext && 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window,
  // on reports whether this browser is told, by its own word and the server's.
  async on() {
    const at = await navigator.serviceWorker.getRegistration('/');
    const mine = await at?.pushManager.getSubscription();
    return Boolean(mine) && (await api.push()).on;
  },
  async set(on) {
    if (!on) {
      await api.unsubscribe();
      const at = await navigator.serviceWorker.getRegistration('/');
      await (await at?.pushManager.getSubscription())?.unsubscribe();
      return false;
    }
    if (await Notification.requestPermission() !== 'granted') throw new Error('The browser does not allow notifications of this page. Its settings for the site can change that.');
    const { key } = await api.push();
    await navigator.serviceWorker.register('/sw.js');
    const at = await navigator.serviceWorker.ready;
    let mine = null;
    try {
      await (await at.pushManager.getSubscription())?.unsubscribe(); // it may be for another key
      mine = await at.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(key) });
    } catch (e) {
      throw new Error(`The browser's push service cannot be used: ${e.message}`);
    }
    await api.subscribe({ endpoint: mine.endpoint, p256dh: text(mine.getKey('p256dh')), auth: text(mine.getKey('auth')) });
    return true;
  },
};
