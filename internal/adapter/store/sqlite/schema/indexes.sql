-- What older versions of the same format do not have, and need not know of: the
-- database maintains it for them.
--
-- minute is that of the last event. It changes once in a minute, so an append
-- does not write the indexes.
ALTER TABLE sessions ADD COLUMN minute INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET minute = updated / 60000000000;
CREATE TRIGGER sessions_begin AFTER INSERT ON sessions
BEGIN UPDATE sessions SET minute = NEW.updated / 60000000000 WHERE num = NEW.num; END;
CREATE TRIGGER sessions_go_on AFTER UPDATE OF updated ON sessions WHEN NEW.updated / 60000000000 <> NEW.minute
BEGIN UPDATE sessions SET minute = NEW.updated / 60000000000 WHERE num = NEW.num; END;
CREATE INDEX sessions_of_dir ON sessions (dir, minute DESC, owner) WHERE state = 0;
CREATE INDEX sessions_by_minute ON sessions (minute DESC, owner) WHERE state = 0;

-- Those that are being deleted.
CREATE INDEX sessions_going ON sessions (num) WHERE state = 2;
