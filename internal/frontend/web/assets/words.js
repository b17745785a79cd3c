// Numbers and times in words.

export function age(time, now = Date.now()) {
  const s = Math.max(0, (now - new Date(time).getTime()) / 1000);
  if (s < 60) return 'just now';
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ago`;
  return `${Math.floor(s / 86400)} d ago`;
}

export const tokens = (n) => (n >= 1e6 ? `${(n / 1e6).toFixed(1)}M` : n >= 1e3 ? `${Math.round(n / 1e3)}k` : String(n));
export const percent = (used, size) => (size ? Math.round((used / size) * 100) : 0);

// address is the part of the page's address that names a session.
export const address = (session) => `#/s/${encodeURIComponent(session)}`;
