package swarmrun

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// SPEC 14.6: what a worker's environment holds as a secret goes into no message
// and no result; what is none stays as it is.
func TestSecretsOfThisMachine(t *testing.T) {
	const key, quoted = "sk-ant-one-0123456789abcdef", `pa"ss\word-0123456789`
	t.Setenv("SOME_SERVICE_TOKEN", key)
	t.Setenv("db_password", quoted)
	t.Setenv("EDITOR_NAME", "an-editor-of-some-kind")
	t.Setenv("A_KEY", "on") // too short to be one: every text would hold it
	h := secretsHere(&setup.Environment{Env: func(string) string { return "" }})
	for _, s := range []string{key, quoted} {
		message := must.Get(json.Marshal(map[string]string{"reply": "it is " + s + ", on an-editor-of-some-kind"}))(t)
		var back map[string]string
		masked := h.mask(message)
		if err := json.Unmarshal(masked, &back); err != nil || back["reply"] != "it is [secret], on an-editor-of-some-kind" {
			t.Errorf("%q was sent as %s (%v)", s, masked, err)
		}
		for what, text := range map[string]string{
			"as it is": "key: " + s, "in base64": base64.StdEncoding.EncodeToString([]byte(s)), "in the middle": "x" + s + "y",
		} {
			if !h.in([]byte(text)) {
				t.Errorf("%q %s is not found", s, what)
			}
		}
	}
	if text := strings.Repeat("an-editor-of-some-kind on ", 3); h.in([]byte(text)) {
		t.Errorf("%q is taken for a secret", text)
	}
}
