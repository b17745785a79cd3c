package bedrock

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 17.7: the program of a profile returns credentials, which are kept until they
// expire; any other output is refused, and never repeated.
func TestCredentialProgram(t *testing.T) {
	good := `{"Version":1,"AccessKeyId":"ASIAPROG","SecretAccessKey":"progsecret","SessionToken":"progtoken","Expiration":"2026-11-22T13:00:00Z"}`
	for _, c := range []struct{ name, config, out, id, err string }{
		{"all", "[default]\ncredential_process = /opt/give --for \"my team\"\n", good, "ASIAPROG", ""},
		{"for good", "[default]\ncredential_process=/opt/give --for \"my team\"\n", `{"Version":1,"AccessKeyId":"AKIAPROG","SecretAccessKey":"progsecret"}`, "AKIAPROG", ""},
		{"keys count before it", "[default]\naws_access_key_id=AKIAOWN\naws_secret_access_key=s\ncredential_process=/opt/give\n", "not asked", "AKIAOWN", ""},
		{"another version", "[default]\ncredential_process = /opt/give --for \"my team\"\n", strings.Replace(good, ":1", ":2", 1), "", "version"},
		{"expired", "[default]\ncredential_process = /opt/give --for \"my team\"\n", strings.Replace(good, "13:00", "11:59", 1), "", "expired"},
		{"half", "[default]\ncredential_process = /opt/give --for \"my team\"\n", `{"Version":1,"AccessKeyId":"ASIAPROG"}`, "", "printed no credentials"},
		{"a word", "[default]\ncredential_process = /opt/give --for \"my team\"\n", "progsecret", "", "printed no credentials"},
		{"a date that is none", "[default]\ncredential_process = /opt/give --for \"my team\"\n", strings.Replace(good, "2026-11-22T13:00:00Z", "soon", 1), "", "printed no credentials"},
		{"a flood", "[default]\ncredential_process = /opt/give --for \"my team\"\n", good + strings.Repeat(" ", 64<<10), "", "more than credentials"},
		{"it fails", "[default]\ncredential_process = /opt/give --for \"my team\"\n", "", "", "it is broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			now, ran := noon, 0
			dir := home(t, map[string]string{".aws/config": c.config})
			k := NewCredentials(Source{Region: "us-west-2", Now: func() time.Time { return now }, Env: func(k string) string { return map[string]string{"HOME": dir}[k] },
				Program: func(_ context.Context, files []string, line string) ([]byte, error) {
					if ran++; line != `/opt/give --for "my team"` || files[0] != filepath.Join(dir, ".aws/config") {
						t.Errorf("%q %q", line, files)
					}
					if c.out == "" {
						return nil, errors.New("it is broken")
					}
					return []byte(c.out), nil
				}})
			got, err := k.get(t.Context())
			if got.id != c.id || (err == nil) != (c.err == "") || err != nil && (!strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "progsecret")) {
				t.Fatalf("%v %v", got.id, err)
			}
			if c.name != "all" {
				return
			}
			for _, at := range []time.Duration{0, 57 * time.Minute, 59 * time.Minute} {
				now = noon.Add(at)
				must.Done(t)(k.get(t.Context()))
			}
			if ran != 2 { // two minutes before they expire
				t.Errorf("it ran %d times", ran)
			}
			if s := strings.Join(k.Secrets(), " "); s != "ASIAPROG progsecret progtoken" {
				t.Error(s)
			}
		})
	}
}

// A role may be assumed with a program's credentials.
func TestRoleOfAProgram(t *testing.T) {
	dir := home(t, map[string]string{".aws/config": "[profile r]\nrole_arn=arn:r\nsource_profile=p\n[profile p]\ncredential_process=/opt/give\n"})
	net := &answers{t: t, of: map[string]string{"POST sts.us-west-2.amazonaws.com/": assumed}}
	k := NewCredentials(Source{Region: "us-west-2", Now: func() time.Time { return noon }, HTTP: net, Env: func(k string) string { return map[string]string{"HOME": dir, "AWS_PROFILE": "r"}[k] },
		Program: func(context.Context, []string, string) ([]byte, error) {
			return []byte(`{"Version":1,"AccessKeyId":"ASIAPROG","SecretAccessKey":"progsecret"}`), nil
		}})
	got, err := k.get(t.Context())
	if err != nil || got.id != "ASIAROLE" || !strings.Contains(net.asked[0].Header.Get("Authorization"), "Credential=ASIAPROG/") {
		t.Error(got.id, err)
	}
}
