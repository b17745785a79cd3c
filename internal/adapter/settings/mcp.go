package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/jsonc"
)

// MCP returns the path of the person's own MCP servers, in the format of a project's
// .mcp.json.
func (p Paths) MCP() string { return filepath.Join(p.Config, "mcp.json") }

// Pins returns the folder with the accepted descriptions of MCP servers.
func (p Paths) Pins() string { return filepath.Join(p.State, "mcp") }

// Tokens returns the folder with the tokens of MCP servers.
func (p Paths) Tokens() string { return filepath.Join(p.State, "mcp-tokens") }

// ReadServers returns the contents of a file of MCP servers; nil if it does not exist.
func ReadServers(path string) ([]byte, error) {
	raw, err := readSmall(path)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, &fault.Error{Category: fault.Configuration, Message: "cannot read the MCP servers", Err: err, Hint: "correct or remove the file"}
	}
	return raw, nil
}

// SetServer writes a server into a file of MCP servers, or removes it if entry is nil. It
// reports whether a server of that name was there. Other servers and keys stay. A file
// with comments is refused, because they would be lost.
func SetServer(path, name string, entry any, perm os.FileMode) (was bool, err error) {
	raw, err := ReadServers(path)
	if err != nil {
		return false, err
	}
	all := map[string]json.RawMessage{}
	if raw != nil {
		if err := json.Unmarshal(raw, &all); err != nil {
			if json.Unmarshal(jsonc.Plain(raw), &all) == nil {
				err = errors.New("it has comments, which would be lost; edit it by hand")
			}
			return false, fmt.Errorf("%s: %w", path, err)
		}
	}
	servers := map[string]json.RawMessage{}
	if s := all["mcpServers"]; s != nil {
		if err := json.Unmarshal(s, &servers); err != nil {
			return false, fmt.Errorf("%s: mcpServers: %w", path, err)
		}
	}
	_, was = servers[name]
	if entry == nil {
		delete(servers, name)
	} else if servers[name], err = json.Marshal(entry); err != nil {
		return was, err
	}
	if all["mcpServers"], err = json.Marshal(servers); err != nil {
		return was, err
	}
	out, err := json.MarshalIndent(all, "", "  ")
	if err != nil || entry == nil && !was {
		return was, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return was, err
	}
	return was, atomicfile.Write(path, append(out, '\n'), perm)
}
