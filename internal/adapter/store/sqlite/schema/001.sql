-- One row a session, kept up to date by every append.
CREATE TABLE sessions (
  num     INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice
  id      TEXT NOT NULL UNIQUE,
  dir     TEXT NOT NULL,
  title   TEXT NOT NULL,
  model   TEXT NOT NULL,
  created INTEGER NOT NULL,                  -- Unix nanoseconds
  updated INTEGER NOT NULL,
  last    INTEGER NOT NULL,                  -- the last seq, a fork's shared ones counted
  parent  INTEGER REFERENCES sessions (num), -- of a fork
  at      INTEGER NOT NULL DEFAULT 0,        -- the last seq shared with the parent
  state   INTEGER NOT NULL DEFAULT 0         -- 0 live, 1 deleted but forked from, 2 being deleted
);
CREATE INDEX sessions_parent ON sessions (parent) WHERE parent IS NOT NULL;

-- id is the session's num << 32 | seq: one b-tree in reading order, no second
-- index to write at each append.
CREATE TABLE events (
  id      INTEGER PRIMARY KEY,
  cause   INTEGER NOT NULL,
  time    INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  version INTEGER NOT NULL,
  packed  INTEGER NOT NULL, -- 0 JSON, 1 zstd of it
  body    BLOB NOT NULL
);

CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN SELECT RAISE (ABORT, 'events are append-only'); END;

CREATE TRIGGER events_never_go BEFORE DELETE ON events
WHEN (SELECT state FROM sessions WHERE num = OLD.id >> 32) IS NOT 2
BEGIN SELECT RAISE (ABORT, 'events are append-only: only whole sessions go'); END;

-- Also keeps INSERT OR REPLACE out, which fires no delete trigger.
CREATE TRIGGER events_only_append BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE id >= NEW.id AND id < ((NEW.id >> 32) + 1) << 32)
BEGIN SELECT RAISE (ABORT, 'events are append-only: this place is taken'); END;

CREATE TRIGGER sessions_keep_events BEFORE DELETE ON sessions
WHEN EXISTS (SELECT 1 FROM events WHERE id >= OLD.num << 32 AND id < (OLD.num + 1) << 32)
BEGIN SELECT RAISE (ABORT, 'the session has events'); END;

CREATE TRIGGER sessions_keep_num BEFORE UPDATE OF num, id, created, parent, at ON sessions
BEGIN SELECT RAISE (ABORT, 'this never changes'); END;

CREATE TABLE blobs (
  num    INTEGER PRIMARY KEY AUTOINCREMENT,
  hash   BLOB NOT NULL UNIQUE, -- SHA-256 of the content
  size   INTEGER NOT NULL,     -- of the content
  packed INTEGER NOT NULL,
  data   BLOB NOT NULL
);

-- Which session's events name which blob.
CREATE TABLE uses (
  session INTEGER NOT NULL REFERENCES sessions (num),
  blob    INTEGER NOT NULL REFERENCES blobs (num),
  PRIMARY KEY (session, blob)
) WITHOUT ROWID;
CREATE INDEX uses_blob ON uses (blob);
