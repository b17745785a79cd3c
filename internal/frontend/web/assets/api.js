// What the page asks of the server: the documented API and nothing else.

// Failed is an answer that is an error: what happened, and what to do next.
export class Failed extends Error {
  constructor(status, message, hint) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

let denied = () => {};

// whenDenied is called when the server no longer knows this device.
export function whenDenied(f) { denied = f; }

async function ask(method, path, body) {
  let r;
  try {
    r = await fetch(path, { method, credentials: 'same-origin', cache: 'no-store', headers: body === undefined ? {} : { 'Content-Type': 'application/json' }, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Failed(0, 'pawl cannot be reached.', 'Look whether the computer is awake and `pawl serve` runs. What you wrote is kept here.');
  }
  const text = await r.text();
  let data = null;
  try {
    data = text ? JSON.parse(text) : null;
  } catch {
    throw new Failed(r.status, 'Something that is not pawl answered.', 'Look at the address, or at the proxy before pawl.');
  }
  if (!r.ok) {
    const e = new Failed(r.status, data?.error ?? `The server answered with status ${r.status}.`, data?.hint);
    if (r.status === 401 && path !== '/api/pair') {
      e.quiet = true;
      denied(e);
    }
    throw e;
  }
  return data;
}

const of = (session, what) => `/api/s/${encodeURIComponent(session)}${what}`;

export const api = {
  pair: (code, device) => ask('POST', '/api/pair', { code, device }),
  hello: () => ask('GET', '/api/hello'),
  sessions: () => ask('GET', '/api/sessions'),
  create: (want) => ask('POST', '/api/sessions', want),
  session: (s) => ask('GET', of(s, '')),
  blocks: (s, before, n) => ask('GET', of(s, `/blocks?n=${n}${before ? `&before=${encodeURIComponent(before)}` : ''}`)),
  prompt: (s, body) => ask('POST', of(s, '/prompt'), body),
  answer: (s, question, body) => ask('POST', of(s, '/answer'), { question, ...body }),
  interrupt: (s) => ask('POST', of(s, '/interrupt'), {}),
  withdraw: (s, id) => ask('POST', of(s, '/withdraw'), { id }),
  mode: (s, mode) => ask('POST', of(s, '/mode'), { mode }),
  model: (s, model) => ask('POST', of(s, '/model'), { model }),
  stop: (s) => ask('POST', of(s, '/stop'), {}),
  undoPlan: (s, prompt) => ask('GET', of(s, `/undo?prompt=${prompt || 0}`)),
  undo: (s, hash, confirmed) => ask('POST', of(s, '/undo'), { hash, ...(confirmed.length ? { confirmed } : {}) }),
  prompts: (s) => ask('GET', of(s, '/prompts')),
  rewind: (s, body) => ask('POST', of(s, '/rewind'), body),
  fork: (s) => ask('POST', of(s, '/fork'), {}),
  plan: (s) => ask('GET', of(s, '/plan')),
  decide: (s, body) => ask('POST', of(s, '/plan'), body),
  stats: (s) => ask('GET', of(s, '/stats')),
  swarm: (s) => ask('GET', of(s, '/swarm')),
  cancelSwarm: (s, how) => ask('POST', of(s, '/swarm/cancel'), how),
  resumeSwarm: (s, how) => ask('POST', of(s, '/swarm/resume'), how),
  steerTask: (s, order) => ask('POST', of(s, '/swarm/steer'), order),
  taskDiff: (s, task) => ask('GET', of(s, `/swarm/diff?task=${encodeURIComponent(task)}`)),
  push: () => ask('GET', '/api/push'),
  subscribe: (to) => ask('POST', '/api/push', to),
  unsubscribe: () => ask('DELETE', '/api/push'),
  models: () => ask('GET', '/api/models'),
  devices: () => ask('GET', '/api/devices'),
  revoke: (id) => ask('DELETE', `/api/devices/${encodeURIComponent(id)}`),
};

export const events = { address: '/api/events', kinds: ['sessions', 'state', 'block', 'piece', 'gone', 'takenback', 'reset', 'bye'] };
