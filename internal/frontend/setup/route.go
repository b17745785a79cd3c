package setup

import (
	"cmp"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// routes is how prompts are routed: the flag before the user's own setting.
func routes(opt *Options, conf settings.Settings) (route.Config, error) {
	mode, err := route.ParseMode(cmp.Or(opt.Route, conf.Route))
	if err != nil {
		return route.Config{}, Usage("%w", err)
	}
	return route.Config{Mode: mode, Model: conf.RouteModel == nil || *conf.RouteModel}, nil
}
