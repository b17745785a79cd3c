package secrets

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"
)

// word makes a random word; keys in these tests are made at run time so that
// no scanner of repositories takes them for real ones.
func word(n int, seed uint64) string {
	const abc = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	r := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = abc[r.IntN(len(abc))]
	}
	b[0], b[1], b[2] = 'a', '7', 'Q'
	return string(b)
}

func jwtOf() string {
	e := base64.RawURLEncoding.EncodeToString
	return e([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + e([]byte(`{"sub":"1234567890","name":"x"}`)) + "." + word(43, 3)
}

// SPEC 16.7
func TestMasksKeys(t *testing.T) {
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(word(64, 5)+"\n", 12) + "-----END RSA PRIVATE KEY-----"
	for name, key := range map[string]string{
		"anthropic": "sk-ant-api03-" + word(80, 1), "openai": "sk-proj-" + word(100, 2), "key": "sk-" + word(48, 3),
		"openrouter": "sk-or-v1-" + word(64, 4), "google": "AIza" + word(35, 5), "github": "ghp_" + word(36, 6),
		"gitlab": "glpat-" + word(20, 8), "slack": "xoxb-123456789012-" + word(24, 9), "aws": "AKIA" + strings.ToUpper(word(16, 10)),
		"npm": "npm_" + word(36, 11), "huggingface": "hf_" + word(34, 12), "groq": "gsk_" + word(52, 13), "jwt": jwtOf(),
		"private-key": pem, "bearer": "Bearer " + word(40, 14), "stripe": "sk_live_" + word(24, 15),
	} {
		t.Run(name, func(t *testing.T) {
			for _, around := range [][2]string{{"", ""}, {"KEY=", "\n"}, {`{"a":"`, `"}`}, {"x ", " y"}, {"line\\n", "\\n"}, {"(", ")"}} {
				in := around[0] + key + around[1]
				got, n := New().Mask(in)
				if want := around[0] + "[masked:" + name + "]" + around[1]; got != want || n != 1 {
					t.Errorf("%q: got %q (%d)", in, got, n)
				}
			}
		})
	}
	for _, p := range []string{"gho_", "ghs_", "github_pat_"} {
		if got, _ := New().Mask(p + word(40, 20)); got != "[masked:github]" {
			t.Error(p, got)
		}
	}
}

// SPEC 16.7
func TestMasksHeldValues(t *testing.T) {
	m := New("hunter2hunter2", "short", "hunter2hunter2-longer", "")
	got, n := m.Mask("a hunter2hunter2-longer b hunter2hunter2 c short")
	if got != "a [masked:held] b [masked:held] c short" || n != 2 {
		t.Error(got, n)
	}
	if got := string(m.MaskBytes([]byte("xhunter2hunter2y"))); got != "x[masked:held]y" {
		t.Error(got)
	}
}

// Ordinary text must stay: a mask in a file that is then edited is a loss.
func TestLeavesTheRest(t *testing.T) {
	img := base64.StdEncoding.EncodeToString([]byte(word(3000, 30)))
	for _, s := range []string{
		"the task-list of risk-averse people and the sk-learn package, sk-learn-contrib-and-more-words-here",
		"sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "sk-...", "AKIAXXXXXXXXXXXXXXXX", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "123e4567-e89b-12d3-a456-426614174000",
		"Bearer token", "Authorization: Bearer <token>", "Bearer $TOKEN_FROM_ENVIRONMENT_1", "bearer of good news from afar",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", `if strings.HasPrefix(s, "-----BEGIN RSA PRIVATE KEY-----") {`,
		"data:image/png;base64," + img, img, "npm_config_registry npm_lifecycle_event", "eyJhbGciOi", "hf_hub_download(repo_id, filename)",
		"h1:" + img[:43] + "=", "pypi-publish", "github_pat_", "glpat-", "xoxb-", "gsk_", "https://user:secretpw@example.com", "[masked:openai]",
		"    --- PASS: TestWebLauncher_ServesA2A/A2A_v2_client (0.02s)", "--- PASS: TestIsPreconditionFailed/http_412_wrapped (0.00s)\n", "--- PASS: TestX/a1b2c3d4e5 (0.00s)",
	} {
		if got, n := New().Mask(s); got != s || n != 0 {
			t.Errorf("%q became %q", s[:min(len(s), 80)], got[:min(len(got), 80)])
		}
	}
}

// SPEC 16.7
func TestLooksSecret(t *testing.T) {
	for p, want := range map[string]bool{
		".env": true, "a/.env.production": true, ".env.example": false, "x/.env.sample": false, "id_rsa": true, "id_rsa.pub": false,
		"certs/server.pem": true, "a.key": true, "credentials.json": true, "src/credentials.go": false, "docs/secrets.md": false,
		"/home/me/.ssh/known_hosts": false, "/home/me/.ssh/work": true, "/home/me/.aws/credentials": true, "env.go": false,
		"keyboard.go": false, "config/secrets.yml": true, ".netrc": true, ".ENV": true, `C:\x\.env`: true, "prod.env": true,
		".envrc": false, "environment": false,
	} {
		if LooksSecret(p) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
}

func FuzzMask(f *testing.F) {
	f.Add("KEY=sk-ant-" + word(40, 1) + " x")
	f.Add("-----BEGIN PRIVATE KEY-----\nabc")
	m := New("held-value-held")
	f.Fuzz(func(t *testing.T, s string) {
		got, n := m.Mask(s)
		if n == 0 && got != s {
			t.Fatal("changed without counting")
		}
		if strings.Contains(got, "held-value-held") {
			t.Fatal("a held value stays")
		}
		if again, n := m.Mask(got); n != 0 && !strings.Contains(s, "[masked:") && len(again) > len(got)*2 {
			t.Fatalf("grows: %q", again)
		}
	})
}

// SPEC 16.7: a password may hold an @: the last one ends it.
func TestPasswordWithAnAt(t *testing.T) {
	if got, n := New().Mask("postgres://app:fir5t@sec0nd@db.internal/x"); got != "postgres://app:[masked:password]@db.internal/x" || n != 1 {
		t.Error(got, n)
	}
}
