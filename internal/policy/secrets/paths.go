package secrets

import (
	"path"
	"strings"
)

// LooksSecret reports whether a file's name suggests that it holds secrets:
// .env, private keys, credential stores. Examples and public keys do not.
func LooksSecret(p string) bool {
	p = strings.ToLower(strings.ReplaceAll(p, `\`, "/"))
	base := path.Base(p)
	for _, s := range [...]string{".example", ".sample", ".template", ".dist", ".pub", ".defaults", ".tmpl", ".md"} {
		if strings.HasSuffix(base, s) {
			return false
		}
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
	case ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".tfvars":
		return true
	case ".env":
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
