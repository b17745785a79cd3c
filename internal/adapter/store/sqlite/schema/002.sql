-- Of an agent's session: the session and the call that it was made for, and the
-- kind of agent. All are empty for others.
ALTER TABLE sessions ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN owner_call TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN agent TEXT NOT NULL DEFAULT '';
CREATE INDEX sessions_owner ON sessions (owner) WHERE owner <> '';
