package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.7, 16.12: package managers in the sandbox use the person's registries, so that no
// internal name goes to a public one, and get none of the keys beside them.
func TestPackageSettings(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		".npmrc": "# mine\nregistry=https://me:hunter2hunter2@npm.corp.example/a\n@corp:registry = https://npm.corp.example/b\nstrict-ssl=false\ncafile=/etc/corp.pem\n" +
			"//npm.corp.example/:_authToken=hunter2hunter2\n_auth=hunter2hunter2\nusername=hunter2hunter2\n_password = hunter2hunter2\nkey=hunter2hunter2\nscript-shell=/tmp/evil\n//npm.corp.example/:certfile=hunter2hunter2\n",
		".config/pip/pip.conf": "[global]\nindex-url = https://me:hunter2hunter2@pypi.corp.example/simple\nextra_index_url =\n    https://one.example/simple\n    https://hunter2hunter2@two.example/simple\ntrusted-host = pypi.corp.example\nproxy = http://hunter2hunter2@p\nclient-cert = hunter2hunter2\n[install]\nno-index = false\n[search]\nindex = x\n",
		".cargo/config.toml":   "[source.crates-io]\nreplace-with = \"corp\"\n\n[source.\"corp\"]\nregistry = \"sparse+https://cargo.corp.example/\"\n[registries.corp]\nindex = \"sparse+https://cargo.corp.example/\"\ntoken = \"hunter2hunter2\"\n[registry]\ntoken = \"hunter2hunter2\"\nglobal-credential-providers = [\"hunter2hunter2\"]\n[build]\nrustc-wrapper = \"hunter2hunter2\"\n[http]\ncainfo = \"/etc/corp.pem\"\nproxy = \"hunter2hunter2\"\n",
		".config/uv/uv.toml":   "index-url = \"https://pypi.corp.example/simple\"\n",
		".yarnrc.yml":          "npmRegistryServer: https://npm.corp.example\nnpmAuthToken: glpat-AbCdEf0123456789XyZw\n",
		".bunfig.toml":         "[install]\nregistry = \"https://me:hunter2hunter2@npm.corp.example\"\n",
	} {
		must.Write(t, filepath.Join(home, name), text)
	}
	own := t.TempDir()
	f := confine.Facts{Root: filepath.Join(home, "w"), Home: real(home)}
	set := must.Get(packageSettings(&f, func(string) string { return "" }, own))(t)
	npm, pip := filepath.Join(own, "settings/npmrc"), filepath.Join(own, "settings/pip.conf")
	if want := []string{"npm_config_userconfig=" + npm, "NPM_CONFIG_USERCONFIG=" + npm, "PIP_CONFIG_FILE=" + pip}; !slices.Equal(set, want) {
		t.Errorf("%q", set)
	}
	for file, want := range map[string]string{
		npm:                                     "registry=https://npm.corp.example/a\n@corp:registry = https://npm.corp.example/b\nstrict-ssl=false\ncafile=/etc/corp.pem\n",
		pip:                                     "[global]\nindex-url = https://pypi.corp.example/simple\nextra_index_url =\n    https://one.example/simple\n    https://two.example/simple\ntrusted-host = pypi.corp.example\n[install]\nno-index = false\n",
		filepath.Join(own, "cargo/config.toml"): "[source.crates-io]\nreplace-with = \"corp\"\n[source.\"corp\"]\nregistry = \"sparse+https://cargo.corp.example/\"\n[registries.corp]\nindex = \"sparse+https://cargo.corp.example/\"\n[http]\ncainfo = \"/etc/corp.pem\"\n",
	} {
		if got, err := os.ReadFile(file); err != nil || string(got) != want || strings.Contains(string(got), "hunter2") {
			t.Errorf("%s: %v\n%s", file, err, got)
		}
	}
	if want := []string{filepath.Join(real(home), ".config/uv/uv.toml")}; !slices.Equal(f.Reads, want) {
		t.Errorf("read in place: %q", f.Reads)
	}
	// What the person no longer has is gone.
	must.Do(t, os.Remove(filepath.Join(home, ".cargo/config.toml")))
	// A variable names another file.
	other := filepath.Join(home, "other")
	must.Write(t, other, "registry=https://other.example\n")
	must.Done(t)(packageSettings(&f, func(n string) string { return map[string]string{"npm_config_userconfig": other}[n] }, own))
	if _, err := os.Stat(filepath.Join(own, "cargo/config.toml")); err == nil {
		t.Error("the copy is still there")
	}
	if got, err := os.ReadFile(npm); err != nil || string(got) != "registry=https://other.example\n" {
		t.Errorf("%v %s", err, got)
	}
}
