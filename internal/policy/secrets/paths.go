package secrets

import (
	"path"
	"slices"
	"strings"
)

// kind is how the text of a file is searched for secrets.
type kind int

const (
	data     kind = iota // any file: only what its names and forms show
	keyed                // a file that usually has keys: every value of a name such as PASSWORD
	settings             // an env file: every value that is not plain
	bare                 // a file that is named after what is in it: every word that looks like a secret
)

// examples are endings of files that show how others are filled in.
var examples = [...]string{".example", ".sample", ".template", ".dist", ".pub", ".defaults", ".tmpl", ".md"}

// sources are the endings of files that are never read as files of secrets by their name.
const sources = " .go .ts .tsx .js .jsx .mjs .cjs .py .rb .rs .c .h .cc .cpp .java .kt .cs .swift .lua .pl .html .css .scss .vue .svelte .md .rst .lock .sum .svg .png .map "

// keyedNames are parts of the names of files that usually have keys.
var keyedNames = [...]string{
	"kubeconfig", "npmrc", "yarnrc", "pypirc", "netrc", ".my.cnf", "my.cnf", "wp-config", "local.settings.json", "google-services.json", "googleservice-info.plist", "rclone.conf",
	"sentryclirc", "terraformrc", "terraform.rc", "config.toml", "config.json", "gradle.properties", "local.properties", "keystore.properties", "database.yml", "database.yaml", "dockercfg", "nuget.config", "settings.xml",
	"gitconfig", "s3cfg", ".boto", "appsettings", "application", "firebase", "gcp", "account", "tfvars", "tfstate", "hosts.yml", "parameters.yml", "secret", "credential", "vault", "config",
}

// bareNames are parts of the names of files with a secret and little else.
var bareNames = [...]string{"token", "password", "passwd", "passphrase", "secret", "credential", "vault", "apikey", "api_key", "api-key", "auth.json", "pgpass", "htpasswd", "_pass", ".pass", "-pass"}

// kindOf returns how a file of this name is searched.
func kindOf(p string) kind {
	p = strings.ToLower(strings.ReplaceAll(p, `\`, "/"))
	base := path.Base(p)
	ext := path.Ext(base)
	contains := func(name string) bool { return strings.Contains(base, name) }
	switch {
	case slices.Contains(examples[:], ext):
		return data
	case base == ".env", base == ".envrc", strings.HasPrefix(base, ".env."), ext == ".env", strings.HasPrefix(base, "env.") && !strings.Contains(sources, ext+" "):
		return settings
	case ext != "" && strings.Contains(sources, ext+" "):
		return data
	case slices.ContainsFunc(bareNames[:], contains), path.Base(path.Dir(p)) == "secrets", path.Base(path.Dir(p)) == ".secrets":
		return bare
	case slices.ContainsFunc(keyedNames[:], contains):
		return keyed
	}
	return data
}

// Holds reports whether a file's name suggests that values in it are secrets.
func Holds(p string) bool { return kindOf(p) != data || LooksSecret(p) }

// MayHold reports whether a Masker should hold a file before a call shows it: it has
// secrets by its name, or it is one of settings.
func MayHold(p string) bool {
	switch path.Ext(p) {
	case ".yml", ".yaml", ".toml", ".json", ".ini", ".cfg", ".conf", ".properties", ".xml":
		return !strings.Contains(path.Base(p), "lock")
	}
	return Holds(p)
}

// EnvFile reports whether a file is one of settings for a process. A Masker that holds
// it masks all its values that are not plain, so it can be shown.
func EnvFile(p string) bool {
	switch path.Ext(strings.ToLower(p)) {
	case ".pem", ".key", ".p12", ".pfx":
		return false
	}
	return kindOf(p) == settings
}

// LooksSecret reports whether a file's name suggests that it holds secrets:
// .env, private keys, credential stores. Examples and public keys do not.
func LooksSecret(p string) bool {
	p = strings.ToLower(strings.ReplaceAll(p, `\`, "/"))
	base := path.Base(p)
	if slices.ContainsFunc(examples[:], func(s string) bool { return strings.HasSuffix(base, s) }) {
		return false
	}
	switch base {
	case ".env", ".netrc", "_netrc", ".pgpass", ".git-credentials", ".pypirc", ".htpasswd", ".dockercfg", ".vault-token", ".s3cfg", ".boto",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "credentials", "credentials.json", "credentials.toml",
		"secrets.json", "secrets.yml", "secrets.yaml", "secrets.toml", "secret.json", "secret.yml", "secret.yaml", "service-account.json",
		"service_account.json", "client_secret.json", "master.key", "terraform.tfstate", "application_default_credentials.json", "shadow", "gshadow":
		return true
	}
	if strings.HasPrefix(base, ".env.") {
		return !strings.HasPrefix(base, ".env.test") && !strings.HasPrefix(base, ".env.ci")
	}
	switch path.Ext(base) {
	case ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".tfvars", ".env":
		return true
	}
	if !strings.HasPrefix(p, ".") && !strings.Contains(p, "/.") {
		return false // none of these folders
	}
	for _, d := range [...]string{".ssh/", ".gnupg/", ".aws/credentials", ".docker/config.json", ".kube/config", ".config/gcloud/", ".config/gh/hosts.yml"} {
		if i := strings.Index(p, d); i == 0 || i > 0 && p[i-1] == '/' {
			return d != ".ssh/" || !strings.HasPrefix(base, "known_hosts") && base != "config"
		}
	}
	return false
}
