package cli

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/route"
	"github.com/pawl-agent/pawl/internal/team/until"
)

// valueChecks are the checks of flags' values, by flag name, for all commands.
var valueChecks = map[string]func(value string) error{
	"allow":           checkRules,
	"budget":          func(s string) error { _, err := budget.Preset(s); return err },
	"deny":            checkRules,
	"effort":          oneOf(catalog.Efforts()...),
	"input-format":    oneOf("text", "stream-json"),
	"labels":          checkLabel,
	"max-rounds":      checkRounds,
	"metrics-addr":    func(s string) error { _, _, err := net.SplitHostPort(s); return err },
	"output-format":   oneOf(string(headless.Text), string(headless.JSON), string(headless.Stream), claudeStream),
	"permission-mode": checkMode,
	"retry-for":       func(s string) error { _, err := settings.RetryFor(s); return err },
	"route":           func(s string) error { _, err := route.ParseMode(s); return err },
	"sandbox":         oneOf("workspace", "read-only", "off"),
	"session-id":      setup.CheckSessionID,
	"until":           until.CheckCommand,
	"worktree":        checkTreeName,
}

// checkFlags checks the values of the given flags. It runs before every command, so a
// wrong command line is refused before anything is read or opened. It replaces other
// agents' names of values by pawl's.
func checkFlags(c *cobra.Command, _ []string) error {
	var wrong error
	c.Flags().Visit(func(f *pflag.Flag) {
		if ours, other := sameWords[f.Name][f.Value.String()]; other {
			_ = f.Value.Set(ours) // a string takes any value
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			if err := checkValue(f, v); err != nil && wrong == nil {
				wrong = usageError("--%s: %w\nsee: %s --help", f.Name, err, c.CommandPath())
			}
		}
	})
	if wrong != nil {
		return wrong
	}
	changed := c.Flags().Changed
	again := changed("continue") || changed("resume")
	switch {
	case changed("fork-session") && !again:
		return usageError("--fork-session needs --continue or --resume")
	case changed("resume-session-at") && !again:
		return usageError("--resume-session-at needs --continue or --resume")
	case changed("resume-drops-turn") && !changed("resume-session-at"):
		return usageError("--resume-drops-turn needs --resume-session-at")
	case changed("session-id") && again && !changed("fork-session"):
		return usageError("--session-id is the id of a new session; with --continue or --resume it needs --fork-session")
	case (changed("max-rounds") || changed("tests-may-change")) && !changed("until"):
		return usageError("--max-rounds and --tests-may-change need --until")
	}
	return nil
}

// checkMode checks the name of a mode. In dontAsk a run without a person is as in ask, and
// a program that drives pawl is not asked.
func checkMode(s string) error {
	if s == agentsdk.DontAsk {
		return nil
	}
	_, err := permission.ParseMode(s)
	return err
}

// checkValue returns what is wrong with a flag's value. If a flag's default is empty,
// an empty value means that the flag was not given.
func checkValue(f *pflag.Flag, value string) error {
	switch f.Value.Type() {
	case "int", "int64", "float64", "duration":
		if strings.HasPrefix(value, "-") || strings.Contains(value, "Inf") || value == "NaN" {
			return fmt.Errorf("%s is out of range: use a number from 0 on", value)
		}
	}
	if check := valueChecks[f.Name]; check != nil && (value != "" || f.DefValue != "") {
		return check(value)
	}
	return nil
}

func oneOf(words ...string) func(string) error {
	return func(s string) error {
		if slices.Contains(words, s) {
			return nil
		}
		last := len(words) - 1
		return fmt.Errorf("unknown value %q: use %s or %s", s, strings.Join(words[:last], ", "), words[last])
	}
}

func checkRules(text string) error {
	_, err := permission.ParseRules(permission.Allows, permission.Flag, text)
	return err
}

func checkRounds(n string) error {
	if n == "0" {
		return errors.New("use a number from 1 on")
	}
	return nil
}

// flagError returns the error for flags that cannot be parsed, with a hint.
func flagError(c *cobra.Command, err error) error {
	if bad := (*pflag.InvalidValueError)(nil); errors.As(err, &bad) {
		kind := map[string]string{
			"int": "a whole number", "int64": "a whole number", "float64": "a number", "duration": "a duration such as 90s or 10m", "bool": "true or false",
		}[bad.GetFlag().Value.Type()]
		if kind != "" {
			err = fmt.Errorf("--%s: %q is not %s", bad.GetFlag().Name, bad.GetValue(), kind)
		}
	}
	return usageError("%w%s\nsee: %s --help", err, meantFlag(c, err), c.CommandPath())
}
