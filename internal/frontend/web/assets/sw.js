// The service worker of the page: it shows what pawl tells somebody who is away. It keeps
// nothing and answers no request.

const said = { asks: 'waits for your answer', ended: 'has ended its turn', failed: 'has failed' };

addEventListener('install', () => skipWaiting());
addEventListener('activate', (e) => e.waitUntil(clients.claim()));

addEventListener('push', (e) => {
  let m = {};
  try {
    m = e.data.json();
  } catch {
    return; // not from pawl
  }
  e.waitUntil((async () => {
    const open = await clients.matchAll({ type: 'window' });
    if (open.some((c) => c.visibilityState === 'visible')) return; // they see it
    await registration.showNotification(String(m.title || 'pawl'), { body: said[m.what] ?? 'pawl', tag: String(m.session), icon: '/icon.svg', data: String(m.session), renotify: true });
  })());
});

addEventListener('notificationclick', (e) => {
  e.notification.close();
  const to = `/#/s/${encodeURIComponent(e.notification.data)}`;
  e.waitUntil((async () => {
    const [open] = await clients.matchAll({ type: 'window' });
    if (!open) return clients.openWindow(to);
    await open.focus();
    return open.navigate(to);
  })());
});
