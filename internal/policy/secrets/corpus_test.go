package secrets

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// hidden is a text with a secret in it: none of parts may be left.
type hidden struct {
	text  string
	parts []string
}

func in(format, secret string) hidden {
	return hidden{fmt.Sprintf(format, secret), []string{secret, secret[len(secret)/2:]}}
}

func corpus() (all []hidden) {
	awsKey := "wJa1rXUtnF7MI/K7MDENG+bPxRfiCYq9Zr2mKEYt"
	for _, f := range []string{
		"aws_secret_access_key = %s", "aws_secret_access_key=%s\n", "AWS_SECRET_ACCESS_KEY=%s", `export AWS_SECRET_ACCESS_KEY="%s"`,
		`"SecretAccessKey": "%s",`, "secretAccessKey: '%s'", "secret_access_key: %s", "  aws-secret-access-key   =   %s  ",
		`{\"SecretAccessKey\": \"%s\"}`, "AWS Secret_Access_Key = %s", "TF_VAR_aws_secret_access_key=%s",
	} {
		all = append(all, in(f, awsKey))
	}
	for _, f := range []string{
		"postgres://app:%s@db.internal:5432/x", "mysql://root:%s@10.0.0.1/x", "redis://:%s@cache:6379/0", "amqp://svc:%s@mq//",
		"mongodb+srv://u:%s@cluster0.abc.mongodb.net/", "https://me:%s@git.internal/r.git", "DATABASE_URL=postgresql://a:%s@h/d?sslmode=off",
		`url = "ftp://anon:%s@files.internal/"`, "git clone https://x-access-token:%s@github.com/o/r", "jdbc:postgresql://u:%s@h/d",
	} {
		all = append(all, in(f, "s3cr3t-Pw!9x"), in(f, "plainwords"))
	}
	basic := base64.StdEncoding.EncodeToString([]byte("deploy:correct horse 42"))
	for _, f := range []string{"Authorization: Basic %s", "authorization: basic %s", `-H "Authorization: Basic %s"`, "Proxy-Authorization: BASIC %s\r\n", `{"Authorization":"Basic %s"}`} {
		all = append(all, in(f, basic))
	}
	tok := word(40, 3)
	for _, f := range []string{"Authorization: Bearer %s", "bearer %s", `"Bearer %s"`, "BEARER %s\n"} {
		all = append(all, in(f, tok))
	}
	for _, f := range []string{
		"api_key = %s", `"apiKey": "%s"`, "X-Api-Key: %s", "CLIENT_SECRET=%s", "client-secret: '%s'", "password: %s", "--password=%s", "PGPASSWORD=%s",
		"access_token=%s&x=1", "refresh_token: \"%s\"", "auth-token: %s", "AccountKey=%s;EndpointSuffix=core", "SharedAccessKey=%s", "PRIVATE-TOKEN: %s", "SECRET_KEY = '%s'",
	} {
		all = append(all, in(f, tok))
	}
	gh := "ghp_" + word(36, 6)
	for _, f := range []string{
		"\x1b[31m%s\x1b[0m", "\x1b[01;31m\x1b[K%s\x1b[m\x1b[K", "a\x1b[1m%s", "\x1b]8;;http://x\x07%s\x1b]8;;\x07", "^[[31m%s^[[0m", `\033[31m%s\033[0m`, `\u001b[32m%s`,
		"\u009b31m%s", "dir/%s.txt", "git commit -m '%s'", "`%s`", "<%s>", "https://%s@github.com/o/r", "%s", "the key is %s.",
	} {
		all = append(all, in(f, gh))
	}
	for i := 5; i < len(gh); i += 7 { // a code within
		all = append(all, hidden{"x \x1b[31m" + gh[:i] + "\x1b[0m\x1b[32m" + gh[i:] + "\x1b[0m y", []string{gh[i:]}})
	}
	all = append(all, hidden{"AK\x1b[1mIA" + strings.ToUpper(word(16, 10)) + "\x1b[0mtail", []string{strings.ToUpper(word(16, 10))}})
	for _, k := range []string{
		"GOCSPX-" + word(28, 1), "ya29." + word(80, 2), "glptt-" + word(30, 4), "shpat_" + word(32, 5), "lin_api_" + word(40, 7), "figd_" + word(40, 8), "hvs." + word(40, 9),
	} {
		all = append(all, in("k: %s", k))
	}
	return all
}

// SPEC 16.7
func TestCorpusOfSecrets(t *testing.T) {
	m := New()
	all := corpus()
	if len(all) < 60 {
		t.Errorf("%d cases", len(all))
	}
	for _, h := range all {
		got, n := m.Mask(h.text)
		bare, _ := withoutEscapes(got)
		for _, p := range h.parts {
			if n == 0 || strings.Contains(got, p) || strings.Contains(bare, p) {
				t.Errorf("%q became %q", h.text, got)
				break
			}
		}
		if again, n := m.Mask(got); n != 0 {
			t.Errorf("%q was masked again: %q", got, again)
		}
		// What is shown as it comes hides the same, wherever it is cut.
		for cut := 1; cut < len(h.text); cut += 3 {
			s := m.Stream()
			shown := s.Next(h.text[:cut]) + s.Next(h.text[cut:]) + s.Rest()
			bare, _ := withoutEscapes(shown)
			for _, p := range h.parts {
				if strings.Contains(shown, p) || strings.Contains(bare, p) {
					t.Errorf("%q, cut at %d: %q", h.text, cut, shown)
				}
			}
		}
	}
}

// SPEC 16.7: a private key's lines, in whatever order and behind whatever.
func TestMasksKeyLines(t *testing.T) {
	var lines []string
	for i := range 12 {
		lines = append(lines, word(64, uint64(i)+1))
	}
	lines = append(lines, word(30, 40)+"==")
	head, foot := "-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----"
	rev := func(s string) string {
		b := []byte(s)
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
		return string(b)
	}
	body := strings.Join(lines, "\n")
	for name, text := range map[string]string{
		"as it is":     head + "\n" + body + "\n" + foot,
		"sorted":       head + "\n" + foot + "\n" + body,
		"upside down":  foot + "\n" + body + "\n" + head,
		"head missing": body + "\n" + foot,
		"foot missing": head + "\n" + body,
		"numbered":     "1\t" + head + "\n2\t" + strings.ReplaceAll(body, "\n", "\n9\t") + "\n14\t" + foot,
		"of a diff":    "+" + head + "\n+" + strings.ReplaceAll(body, "\n", "\n+") + "\n+" + foot,
		"of grep":      "id_rsa:" + head + "\nid_rsa:" + strings.ReplaceAll(body, "\n", "\nid_rsa:") + "\nid_rsa:" + foot,
		"indented":     "    " + head + "\n    " + strings.ReplaceAll(body, "\n", "\n    ") + "\n    " + foot,
		"crlf":         head + "\r\n" + strings.ReplaceAll(body, "\n", "\r\n") + "\r\n" + foot,
		"backwards":    rev(head) + "\n" + body + "\n" + rev(foot),
	} {
		got := New().String(text)
		for _, l := range lines {
			if strings.Contains(got, l) {
				t.Errorf("%s: %s is left", name, l)
				break
			}
		}
	}
}

// Ordinary text stays: a mask in a file that is then edited is a loss.
func TestCorpusOfInnocents(t *testing.T) {
	img := base64.StdEncoding.EncodeToString([]byte(word(3000, 30)))
	sha := "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	innocent := []string{
		"commit 9fceb02d0ae598e95dc970b74767f19372d61af8", sha, "sha256:" + sha, "sha512-" + img[:86] + "==", `"integrity": "sha512-` + img[:86] + `=="`,
		"h1:" + img[:43] + "=", "123e4567-e89b-12d3-a456-426614174000", "request_id: 123e4567-e89b-12d3-a456-426614174000", "data:image/png;base64," + img, img,
		"checksum = \"" + sha + "\"", "resolved \"https://registry.yarnpkg.com/a/-/a-1.0.0.tgz#" + sha[:40] + "\"", "ETag: \"" + sha[:32] + "\"",
		"sk-xxxxxxxxxxxxxxxxxxxxxxxx", "sk-your-key-here", "sk-...", "export OPENAI_API_KEY=your-api-key-here", "ANTHROPIC_API_KEY=<your key>", "api_key = \"YOUR_API_KEY\"",
		"password: hunter", "password = \"\"", "password=password", "Password:", "the password is wrong", "passwords are kept in the vault", "enter password: ",
		"password = getPassword(ctx, request, options123)", "apiKey := os.Getenv(\"API_KEY_123456789012\")", "secret := config.Get(\"x1y2z3\")", "token = parser.nextToken()",
		"if password == storedPasswordHash123456 {", "client_secret: ${CLIENT_SECRET_1234567890}", "SECRET_KEY=$(openssl rand -hex 32)", "PGPASSWORD=\"$DB_PASSWORD_123\"",
		"api_key: {{ .Values.apiKey123456789012 }}", "postgres://user:${DB_PASS}@host/db", "postgres://%s:%s@%s/%s", "postgres://user:$PASS@host", "https://user:***@host/x",
		"https://user:xxxxx@host/x", "postgres://postgres:postgres@localhost/x", "postgres://user:<password>@host", "https://user:secretpw@example.com", "ftp://a:b1@docs.example.org/x",
		"http://localhost:8080/a@b", "https://go.dev/x?y=a:b@c", "git@github.com:o/r.git", "ssh://git@github.com/o/r", "https://example.com:443/@scope/pkg", "mailto:me@host.org",
		"Authorization: Basic realm", "basic understanding of things", "Basic authentication", "Basic dXNlcg==", "a Bearer token", "bearer of good news from afar", "Authorization: Bearer <token>",
		"Bearer $TOKEN_FROM_ENVIRONMENT_1", "-----BEGIN CERTIFICATE-----\n" + img[:64] + "\n" + img[64:128] + "\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\n" + img[:64] + "\n-----END PUBLIC KEY-----",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + img[:43] + " me@host", "if strings.HasPrefix(s, \"-----BEGIN RSA PRIVATE KEY-----\") {", "AKIAXXXXXXXXXXXXXXXX", "ASIAN cuisine", "AIza", "npm_lifecycle_event",
		"hf_hub_download(repo_id, filename)", "task-list-of-risk-averse-people", "sk-learn-contrib-and-more-words-here", "\x1b[31mred\x1b[0m and \x1b[1mbold\x1b[0m", "[31mghost_writer", "secretary general", "access_key_id", "accessKeyId: string",
		"[masked:openai] [masked:held]", "aws_secret_access_key = [masked:aws]", "postgres://app:[masked:password]@db/x", "next_page_token: CAUQAA", "var secretKeySelector corev1.SecretKeySelector", "passwordHash VARCHAR(60) NOT NULL",
		"private_key_path: /etc/ssl/private/server2024/key01.pem", "privateKey = /home/me/keys/id_ed25519_2024", "eyJhbGciOi", "eyJ0aGlzIjoxfQ", "0x" + sha, "v1.2.3-0.20240102030405-9fceb02d0ae5", "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCd",
	}
	if len(innocent) < 60 {
		t.Errorf("%d cases", len(innocent))
	}
	m := New()
	for _, s := range innocent {
		if got, n := m.Mask(s); got != s || n != 0 {
			t.Errorf("%q became %q", s[:min(len(s), 100)], got[:min(len(got), 100)])
		}
		for cut := range min(len(s), 120) {
			st := m.Stream()
			if got := st.Next(s[:cut]) + st.Next(s[cut:]) + st.Rest(); got != s {
				t.Errorf("as it comes, cut at %d: %q became %q", cut, s[:min(len(s), 100)], got[:min(len(got), 100)])
				break
			}
		}
	}
}

// SPEC 16.7: a key that is a short or a common word masks nothing.
func TestWordsAreNoKeys(t *testing.T) {
	text := "internal error: x none placeholder development not-needed lm-studio local-ai dummy-key test1234 password 12345678 Authorization max_tokens"
	for _, w := range append(strings.Fields(text), "error", "internal", "e", "", "  x ", "sk-no-key-required") {
		if got := New(w).String(text); got != text {
			t.Errorf("%q masks %q", w, got)
		}
	}
	for _, k := range []string{"hunter2hunter2", "qwmzkvhtplcxbnrjd", "a8f3k2m9", "Tr0ub4dor&3", "test-key-000000", "correct-horse-7-battery", "1234567890123456", "x!y?z#w;"} {
		if New(k).String("it is "+k+".") == "it is "+k+"." {
			t.Errorf("%q is not masked", k)
		}
	}
}

// What stands for nothing, in great length, costs no more than its length:
// quadratic code takes minutes here.
func TestMaskOfLongTexts(t *testing.T) {
	for _, unit := range []string{
		"api_key_secret_password_", "password=", "a://b:c", "-----BEGIN RSA PRIVATE KEY-----\n", "-----BEGIN ", "\x1b[31", "\x1b]8;;", "eyJhbGciOi.", "eyJ",
		"bearer ", "basic QUJD", "sk-ant-", "://", "aws_secret_access_key = ",
	} {
		text := strings.Repeat(unit, 1_000_000/len(unit))
		New("correct-horse-7-battery").Mask(text)
	}
}
