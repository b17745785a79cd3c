// The service worker shows what pawl pushes, and opens the session when it is tapped. It
// stores nothing and answers no request.

addEventListener('push', (e) => {
  let d = {};
  try {
    d = e.data.json();
  } catch {
    // a message without content still has to be shown
  }
  e.waitUntil(registration.showNotification(d.title || 'pawl asks', { body: d.body || 'A session waits for your answer.', tag: d.session || 'pawl', icon: '/icon.svg', data: d.session || '' }));
});

addEventListener('notificationclick', (e) => {
  e.notification.close();
  const to = e.notification.data ? `/#/s/${encodeURIComponent(e.notification.data)}` : '/';
  e.waitUntil(clients.matchAll({ type: 'window' }).then((all) => {
    const tab = all[0];
    return tab ? tab.navigate(to).then((c) => (c ?? tab).focus()) : clients.openWindow(to);
  }));
});
