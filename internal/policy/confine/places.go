package confine

import "path"

// system is what a command can read besides its workspace: the system, and the
// toolchains in a home folder. Of /etc only named files: it contains keys as
// well.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/proc",
	"/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage",
	"/etc/alternatives", "/etc/bash.bashrc", "/etc/bash_completion.d", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/debian_version",
	"/etc/default/locale", "/etc/environment", "/etc/fonts", "/etc/gai.conf", "/etc/gitconfig", "/etc/group", "/etc/host.conf",
	"/etc/hostname", "/etc/hosts", "/etc/inputrc", "/etc/java", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
	"/etc/ld.so.preload", "/etc/locale.alias", "/etc/locale.conf", "/etc/localtime", "/etc/login.defs", "/etc/lsb-release", "/etc/machine-id",
	"/etc/magic", "/etc/magic.mime", "/etc/mime.types", "/etc/mke2fs.conf", "/etc/networks", "/etc/nsswitch.conf", "/etc/os-release",
	"/etc/passwd", "/etc/perl", "/etc/php", "/etc/pki/ca-trust", "/etc/pki/tls/cert.pem", "/etc/pki/tls/certs", "/etc/profile", "/etc/profile.d",
	"/etc/protocols", "/etc/python3", "/etc/redhat-release", "/etc/resolv.conf", "/etc/rpc", "/etc/services", "/etc/shells", "/etc/skel",
	"/etc/ssl/cert.pem", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/terminfo", "/etc/timezone", "/etc/vim", "/etc/xdg",
}

var toolchains = []string{
	".asdf/installs", ".asdf/plugins", ".asdf/shims", ".bun/bin", ".cargo/bin", ".cargo/registry", ".cargo/git", ".cargo/env", ".config/git/ignore",
	".config/git/config", ".config/go", ".deno/bin", ".gitconfig", ".gitignore_global", ".local/bin", ".local/lib", ".local/share/mise", ".local/share/uv",
	".m2/repository", ".nvm", ".pyenv", ".rbenv", ".rustup", ".sdkman/candidates", ".tool-versions", ".volta", ".gradle/wrapper", "go/bin", "go/pkg/mod", "go/pkg/sumdb",
}

// Identity are files and folders of a home with which programs act as the person.
var Identity = [...]string{
	".ssh", ".gnupg", ".config/gh", ".config/glab-cli", ".config/hub", ".docker", ".kube", ".aws", ".azure", ".config/gcloud", ".config/op", ".password-store",
	".local/share/keyrings", ".git-credentials", ".config/git/credentials", ".pgpass", ".terraform.d/credentials.tfrc.json", ".vault-token", ".config/doctl", ".fly",
}

// keys are paths with keys, these and others. They are not in the lists above; this list
// makes sure that no folder that contains them is added there.
var keys = append(Identity[:],
	".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".my.cnf", ".s3cfg", ".boto", ".config/pip",
	".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".thunderbird",
	"Library/Keychains", "Library/Cookies", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox",
	".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties", ".bash_history", ".zsh_history",
)

// closed are the system's own secrets and sockets. A folder below may be a
// workspace: disks are mounted in /run.
var closed = [...]string{"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/etc/ssl/private", "/var/run", "/run", "/boot"}

// devices are the device files that every command gets. Not /dev/pts: other
// terminals of the same person are there, to write to and to read keys from.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// MayHoldKeys reports whether a path may hold the keys of a user's home, whichever
// folder is the home: one above the path, or one below it in which keys exist.
func MayHoldKeys(file string, exists func(string) bool) bool {
	for _, k := range keys {
		if exists(path.Join(file, k)) {
			return true
		}
		for home := path.Dir(file); ; home = path.Dir(home) {
			if k := path.Join(home, k); Within(k, file) || Within(file, k) {
				return true
			}
			if home == "/" {
				break
			}
		}
	}
	return false
}

// OfKeys reports whether a path, without regard to case, is one with keys, whichever folder
// above it is the home.
func OfKeys(file string) bool {
	file = FoldPath(file)
	for home := path.Dir(file); ; home = path.Dir(home) {
		for _, k := range keys {
			if Within(path.Join(home, FoldPath(k)), file) {
				return true
			}
		}
		if home == "/" || home == "." {
			return false
		}
	}
}
