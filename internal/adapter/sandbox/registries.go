package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/policy/confine"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// This file has the table of package managers' settings. Without the person's registries a
// manager in the sandbox would ask the public ones for internal names. Commands get the
// settings below and no credentials.

// registries are settings files that may hold keys. Commands read a copy with the settings
// that match keep, section and name as in "install.index-url", and without user names and
// passwords in addresses.
var registries = []struct {
	named []string // variables that name the person's file
	files []string // else the first of these below the home
	keep  func() *regexp.Regexp
	copy  string // below the sandbox's caches
	set   []string
}{
	{
		[]string{"npm_config_userconfig", "NPM_CONFIG_USERCONFIG"}, []string{".npmrc"},
		lazyregexp.New(`^(@[^:]+:)?registry$|^(cafile|ca|ca\[\]|strict-ssl|replace-registry-host|engine-strict|legacy-peer-deps|omit|save-exact|save-prefix)$`),
		"settings/npmrc", []string{"npm_config_userconfig", "NPM_CONFIG_USERCONFIG"},
	},
	{
		[]string{"PIP_CONFIG_FILE"}, []string{".config/pip/pip.conf", ".pip/pip.conf", "Library/Application Support/pip/pip.conf"},
		lazyregexp.New(`^(global|install|download|wheel|index|list)\.(index-url|extra-index-url|trusted-host|find-links|no-index|index|cert)$`),
		"settings/pip.conf", []string{"PIP_CONFIG_FILE"},
	},
	{
		nil, []string{".cargo/config.toml", ".cargo/config"},
		lazyregexp.New(`^(source\.[^.]+\.(registry|replace-with|local-registry|directory|git|branch|tag|rev)|registries\.[^.]+\.index|registry\.(default|index)|http\.(cainfo|check-revoke|multiplexing))$`),
		"cargo/config.toml", nil, // below the sandbox's CARGO_HOME
	},
}

// inTheOpen are settings files that commands read in place if there is no key in them.
var inTheOpen = []string{".yarnrc.yml", ".yarnrc", ".bunfig.toml", ".gemrc", ".bundle/config", ".config/uv/uv.toml", ".config/pnpm/rc", ".config/pypoetry/config.toml", ".config/composer/config.json", ".condarc"}

// packageSettings writes the copies into own, and returns the variables that name them. It
// lets f read what holds no keys.
func packageSettings(f *confine.Facts, env func(string) string, own string) ([]string, error) {
	if f.Home == "" {
		return nil, nil
	}
	var set []string
	for _, r := range registries {
		files := make([]string, 0, len(r.named)+len(r.files))
		for _, n := range r.named {
			files = append(files, env(n))
		}
		for _, name := range r.files {
			files = append(files, filepath.Join(f.Home, name))
		}
		copied := filepath.Join(own, r.copy)
		text, ok := firstOf(files)
		if !ok {
			_ = os.Remove(copied) // of an earlier session, if any
			continue
		}
		if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
			return nil, fmt.Errorf("make the package managers' settings: %w", err)
		}
		if err := os.WriteFile(copied, []byte(settingsOf(text, r.keep())), 0o600); err != nil {
			return nil, fmt.Errorf("write the package managers' settings: %w", err)
		}
		for _, n := range r.set {
			set = append(set, n+"="+copied)
		}
	}
	for _, name := range inTheOpen {
		file := filepath.Join(f.Home, name)
		text, ok := firstOf([]string{file})
		if !ok || secrets.New().String(text) != text || withoutUser(text) != text {
			continue
		}
		if file = real(file); holdsNoKeys(*f, file) {
			f.Reads = append(slices.Clone(f.Reads), file)
		}
	}
	return set, nil
}

// firstOf returns the text of the first file that is there. Settings are small.
func firstOf(files []string) (string, bool) {
	for _, file := range files {
		if st, err := os.Stat(file); file == "" || err != nil || !st.Mode().IsRegular() || st.Size() > 256<<10 {
			continue
		}
		if b, err := os.ReadFile(file); err == nil {
			return string(b), true
		}
	}
	return "", false
}

// settingsOf returns the settings of a text in the form of INI or TOML whose names match.
func settingsOf(text string, keep *regexp.Regexp) string {
	var out strings.Builder
	section, written, kept := "", "", false
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		switch {
		case t == "" || t[0] == '#' || t[0] == ';':
			continue
		case t[0] == '[' && strings.HasSuffix(t, "]"):
			section, kept = strings.Trim(t, "[]"), false
			continue
		case kept && (line[0] == ' ' || line[0] == '\t') && !strings.Contains(t, " = "): // the value goes on
		default:
			name, _, ok := strings.Cut(t, "=")
			name = strings.TrimSpace(name)
			if section != "" {
				name = strings.ReplaceAll(section, `"`, "") + "." + name
			}
			if kept = ok && keep.MatchString(strings.ReplaceAll(name, "_", "-")); !kept {
				continue
			}
		}
		if kept && section != written {
			out.WriteString("[" + section + "]\n")
			written = section
		}
		out.WriteString(withoutUser(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return out.String()
}

var userInfo = lazyregexp.New(`(://)[^/@\s"']*@`)

// withoutUser removes user names and passwords from addresses.
func withoutUser(text string) string { return userInfo().ReplaceAllString(text, "$1") }
