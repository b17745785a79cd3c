package cli

import (
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// routes is how prompts are routed: the flag before the user's own setting.
func routes(f *flags, conf settings.Settings) (route.Config, error) {
	mode, err := route.ParseMode(first(f.route, conf.Route))
	if err != nil {
		return route.Config{}, usageError("%w", err)
	}
	return route.Config{Mode: mode, Model: conf.RouteModel == nil || *conf.RouteModel}, nil
}
