module github.com/pawl-agent/pawl

go 1.26.0

require (
	github.com/bluekeyes/go-gitdiff v0.9.0 // reads unified diffs
	github.com/bmatcuk/doublestar/v4 v4.10.4 // glob patterns
	github.com/charmbracelet/ultraviolet v0.0.0-20261008173134-6b8d4baf91b4 // the screen (ADR 011), with x/ansi and cancelreader
	github.com/charmbracelet/x/ansi v0.11.9
	github.com/goccy/go-yaml v1.19.2 // front matter, task graphs; errors have line numbers
	github.com/google/go-cmp v0.7.0 // tests
	github.com/google/jsonschema-go v0.4.3 // schemas of arguments, settings and answers
	github.com/klauspost/compress v1.20.4 // zstd of blobs and large events
	github.com/modelcontextprotocol/go-sdk v1.8.0 // MCP's protocol, framing and sign-in (ADR 014)
	github.com/muesli/cancelreader v0.2.2
	github.com/nats-io/jwt/v2 v2.8.3
	github.com/nats-io/nats-server/v2 v2.15.3 // tests: servers inside the test process; pawl does not link it
	github.com/nats-io/nats.go v1.55.0 // swarms on several machines (ADR 019)
	github.com/nats-io/nkeys v0.4.17
	github.com/pelletier/go-toml/v2 v2.4.3 // pawl mcp import codex; reads no time zones at the start
	github.com/rogpeppe/go-internal v1.16.0 // writes unified diffs; testscript
	github.com/sourcegraph/jsonrpc2 v0.2.3 // requests and answers of language servers and editors
	github.com/spf13/cobra v1.10.2 // the command line
	github.com/spf13/pflag v1.1.0
	github.com/tiktoken-go/tokenizer v0.10.0 // tests: the reference of our token counts (ADR 004)
	github.com/zalando/go-keyring v0.2.8 // the system's keyring
	go.uber.org/goleak v1.3.0 // tests
	golang.org/x/net v0.62.0 // HTML, web pages in every encoding of browsers
	golang.org/x/oauth2 v0.38.0 // sign-ins, tokens of service accounts
	golang.org/x/sys v0.50.0
	golang.org/x/term v0.48.0
	golang.org/x/text v0.44.0 // names of files that differ in their Unicode form
	modernc.org/libc v1.80.1
	modernc.org/sqlite v1.62.0 // the log, in pure Go (ADR 001)
	mvdan.cc/sh/v3 v3.14.1 // syntax of the shell
	pgregory.net/rapid v1.3.0 // tests
	rsc.io/qr v0.2.0 // the QR code of pawl serve; no modules of its own, 53 KB
)

require (
	cloud.google.com/go/compute/metadata v0.10.0 // indirect
	github.com/antithesishq/antithesis-sdk-go v0.9.0-default-no-op // indirect
	github.com/charmbracelet/colorprofile v0.4.3 // indirect
	github.com/charmbracelet/x/term v0.2.2 // indirect
	github.com/charmbracelet/x/termios v0.1.1 // indirect
	github.com/charmbracelet/x/windows v0.2.2 // indirect
	github.com/clipperhouse/displaywidth v0.11.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/danieljoos/wincred v1.2.3 // indirect
	github.com/dlclark/regexp2/v2 v2.5.1 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/godbus/dbus/v5 v5.2.4 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/lucasb-eyer/go-colorful v1.4.1 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/mattn/go-runewidth v0.0.31 // indirect
	github.com/minio/highwayhash v1.0.4 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/segmentio/asm v1.2.1 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/xo/terminfo v1.0.0 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/time v0.16.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)
