package bedrock

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// mostPrinted is how many bytes a credentials program may print.
const mostPrinted = 64 << 10

// program returns the keys that the program of a profile prints (credential_process).
// Credentials caches them until they expire.
func (s Source) program(ctx context.Context, name, line string) (keys, error) {
	if s.Program == nil {
		return keys{}, outside(name, "gets its credentials from a program, which is not started here")
	}
	var files []string
	for _, f := range s.files() {
		path, err := filepath.Abs(f.path)
		if err != nil {
			return keys{}, fault.NewConfiguration("set AWS_CONFIG_FILE to an absolute path", "the path of the AWS file %s is not known", f.path)
		}
		files = append(files, path)
	}
	out, err := s.Program(ctx, files, line)
	if err != nil {
		return keys{}, err
	}
	var got struct {
		Version         int
		AccessKeyID     string `json:"AccessKeyId"`
		SecretAccessKey string
		SessionToken    string
		Expiration      *time.Time
	}
	bad := func(why string) (keys, error) { // what it printed is not repeated: it may hold keys
		return keys{}, fault.NewConfiguration("run it in a terminal: it must print the JSON that AWS documents for credential_process", "the program of AWS's profile %q %s", name, why)
	}
	switch {
	case len(out) > mostPrinted:
		return bad("printed more than credentials")
	case json.Unmarshal(out, &got) != nil || got.AccessKeyID == "" || got.SecretAccessKey == "":
		return bad("printed no credentials")
	case got.Version != 1:
		return bad("printed credentials of a version that is not known")
	case got.Expiration != nil && !s.Now().Before(*got.Expiration):
		return bad("printed credentials that have expired")
	}
	k := keys{id: got.AccessKeyID, secret: got.SecretAccessKey, token: got.SessionToken}
	if got.Expiration != nil {
		k.expires = *got.Expiration
	}
	return k, nil
}
