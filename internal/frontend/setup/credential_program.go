package setup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/arguments"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// programTime is how long a program that prints credentials may run. Nobody can type
// into it.
const programTime = time.Minute

// passedToAWS are the variables that such a program gets besides the usual ones: the
// places of AWS's files, and the access to the user's keyring and agents.
var passedToAWS = strings.Fields(`AWS_PROFILE AWS_REGION AWS_DEFAULT_REGION AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_CA_BUNDLE AWS_SDK_LOAD_CONFIG
	SSH_AUTH_SOCK GPG_AGENT_INFO GNUPGHOME DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY XAUTHORITY`)

// credentialProgram returns a function that runs the credential program of an AWS
// profile. The program is the user's own and runs with their rights, from their own
// files. No part of it may lie in the workspace, where a repository or a model could
// have put it.
func credentialProgram(workspace string) catalog.Program {
	return func(ctx context.Context, files []string, line string) ([]byte, error) {
		words := arguments.Split(line, " \t")
		if len(words) == 0 {
			return nil, fault.NewConfiguration("correct credential_process in the AWS config file", "credential_process names no program")
		}
		path, err := exec.LookPath(words[0])
		if err != nil || !filepath.IsAbs(path) {
			return nil, fault.NewConfiguration("write its full path in credential_process", "the program %s of credential_process was not found: %v", words[0], err)
		}
		for _, p := range append([]string{path}, append(files, words[1:]...)...) {
			if in(workspace, p) {
				return nil, fault.NewConfiguration("move it to a folder of your own, or start pawl in another folder",
					"the program of credential_process was not run: %s is in the workspace, so somebody else could have written it", p)
			}
		}
		starter := shell.NewStarter(shell.StarterOptions{Allow: passedToAWS})
		defer starter.Close()
		ctx, stop := context.WithTimeoutCause(ctx, programTime, fmt.Errorf("it did not answer within %s", programTime))
		defer stop()
		// The command line is not repeated: it may contain the credentials.
		out, err := process.Output(ctx, starter, process.Program{Path: path, Args: words[1:], Dir: string(filepath.Separator), Apart: apartFrom(workspace, os.Getenv("HOME")), Confine: process.Free})
		if err != nil {
			why := "it failed"
			if ctx.Err() != nil {
				why = context.Cause(ctx).Error()
			}
			return nil, fault.NewConfiguration("run it in a terminal to see why", "the program %s of credential_process returned no credentials: %s", path, why)
		}
		return out, nil
	}
}

// in reports whether a path, or what it links to, lies in a folder. It returns false
// for an argument that is not an absolute path.
func in(dir, p string) bool {
	if !filepath.IsAbs(p) {
		_, value, ok := strings.Cut(p, "=") // --config=/path
		if !ok || !filepath.IsAbs(value) {
			return false
		}
		p = value
	}
	return shell.LeadsInto(dir, p)
}
