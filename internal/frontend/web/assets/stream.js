// One stream of events for all tabs of a browser: a browser opens six connections to a
// server and no more, so a stream for each tab would make the seventh tab hang.
//
// The tab that a person looks at has the stream; it takes it from the tab that had it,
// since a browser may freeze a tab that nobody sees. The others get its events over a
// channel. If that tab is closed, another one takes its place. A stream that nobody has
// looked at for a while is closed, and goes on from its cursor when somebody looks again.

const lock = 'pawl-stream';
const longHidden = 5 * 60_000;
const slowest = 15_000;

// follow opens the stream. kinds: the events that it has; on(kind, data): called with
// each; up(state): 'up', 'down' (it is tried again), or 'denied'; busy(): a reason to
// keep a hidden stream open; cursor: where it begins.
export function follow({ address, kinds, cursor, on, up, busy }) {
  const channel = new BroadcastChannel(lock);
  let source = null; // the EventSource of the tab that has the stream
  let release = null; // gives the lock back
  let queued = false; // this tab waits for the stream
  let took = null; // called with the cursor of the tab that had the stream
  let wait = 500;
  let timer = 0;
  let hiddenTimer = 0;
  let over = false;
  let state = '';

  const tell = (s) => {
    if (s === state) return;
    state = s;
    up(s);
  };

  const got = (kind, data, id) => {
    if (id) cursor = id;
    on(kind, data);
  };

  function open() {
    if (over || source || !release) return;
    const s = new EventSource(`${address}?after=${encodeURIComponent(cursor)}`);
    source = s;
    s.onopen = () => {
      wait = 500;
      tell('up');
      channel.postMessage({ state: 'up' });
    };
    s.onerror = () => { // its own retry would ask from where it began
      if (source !== s) return;
      shut();
      tell('down');
      channel.postMessage({ state: 'down' });
      timer = setTimeout(open, wait * (0.75 + Math.random() / 2));
      wait = Math.min(wait * 2, slowest);
    };
    for (const kind of kinds) {
      s.addEventListener(kind, (e) => {
        if (source !== s) return;
        const data = JSON.parse(e.data);
        got(kind, data, e.lastEventId);
        channel.postMessage({ kind, data, id: e.lastEventId });
      });
    }
  }

  function shut() {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  // lead waits until this tab has the stream, or takes it at once, to go on from where the
  // other tab ended.
  async function lead(steal) {
    if (!navigator.locks) { // only without TLS beyond this machine, which pawl refuses
      release = () => {};
      return open();
    }
    if (!steal && queued) return;
    queued ||= !steal;
    const other = steal && (await navigator.locks.query()).held.some((l) => l.name === lock);
    try {
      await navigator.locks.request(lock, steal ? { steal: true } : {}, async () => {
        if (!steal) queued = false;
        const done = new Promise((d) => { release = d; });
        if (other) await handed();
        open();
        await done;
      });
    } catch (e) {
      if (e.name !== 'AbortError') throw e;
      release = null; // another tab took it
      shut();
      channel.postMessage({ left: cursor });
      if (!over) lead(false);
    }
  }

  // handed waits for the cursor of the tab that had the stream. A frozen tab says none:
  // what the others lack is not known then, and they load it again.
  const handed = () => new Promise((done) => {
    const late = setTimeout(() => {
      took = null;
      channel.postMessage({ lost: true });
      done();
    }, 200);
    took = (c) => {
      clearTimeout(late);
      took = null;
      cursor = c;
      done();
    };
  });

  const seen = () => {
    clearTimeout(hiddenTimer);
    if (document.visibilityState === 'visible') {
      if (!release) lead(true);
      else if (!source) {
        clearTimeout(timer);
        wait = 500;
        open();
      }
    } else if (release) {
      channel.postMessage({ hidden: true });
      hiddenTimer = setTimeout(() => { if (release && !busy?.()) shut(); }, longHidden);
    }
  };

  channel.onmessage = ({ data: m }) => {
    if (over) return;
    if (m.hidden) {
      if (document.visibilityState === 'visible' && !release) lead(true);
    } else if (m.ask) {
      if (release) channel.postMessage({ state: state || 'down' });
    } else if (m.state) {
      if (!release) tell(m.state);
    } else if (m.left !== undefined) {
      took?.(m.left);
    } else if (m.lost) {
      on('reset', { session: '' });
    } else if (!source) got(m.kind, m.data, m.id);
  };

  document.addEventListener('visibilitychange', seen);
  addEventListener('online', () => { if (release && !source) { clearTimeout(timer); wait = 500; open(); } });
  addEventListener('pageshow', (e) => { if (e.persisted) seen(); });
  lead(document.visibilityState === 'visible');
  channel.postMessage({ ask: true });

  return {
    // now tries again at once.
    now() {
      if (release && !source) {
        clearTimeout(timer);
        wait = 500;
        open();
      }
    },
    cursor: () => cursor,
    leads: () => release !== null,
    close() {
      over = true;
      shut();
      channel.close();
      release?.();
      document.removeEventListener('visibilitychange', seen);
    },
  };
}
