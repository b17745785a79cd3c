package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Target is the destination of spans, and the sender's attributes.
type Target struct {
	URL           string
	Headers       map[string]string
	Timeout       time.Duration // of one request
	Resource      []Attr
	Version       string // pawl's
	Trace, Parent string // from TRACEPARENT, hex
}

// TargetFrom returns the target that the OTEL_* variables set, as specified by
// OpenTelemetry. ok is false if nothing is to be sent: no endpoint is set, sending is
// switched off, or a value is unusable. Warnings name settings that are not supported.
func TargetFrom(env func(string) string, version string) (t Target, ok bool, warnings []string) {
	if strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return t, false, nil
	}
	switch exporter := env("OTEL_TRACES_EXPORTER"); exporter {
	case "", "otlp":
	case "none":
		return t, false, nil
	default:
		return t, false, []string{fmt.Sprintf("OTEL_TRACES_EXPORTER=%s is not supported, only otlp and none: no spans are sent", exporter)}
	}
	if t.URL = env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); t.URL == "" {
		base := env("OTEL_EXPORTER_OTLP_ENDPOINT")
		if base == "" {
			return t, false, nil
		}
		t.URL = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	u, err := url.Parse(t.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return t, false, []string{"the collector's address in OTEL_EXPORTER_OTLP_ENDPOINT is not an http(s) URL: no spans are sent"}
	}
	if p := first(env, "PROTOCOL"); p != "" && p != "http/json" && p != "http/protobuf" {
		warnings = append(warnings, fmt.Sprintf("OTEL_EXPORTER_OTLP_PROTOCOL=%s is not supported: spans are sent to %s as http/json", p, u.Host))
	}
	t.Timeout = 10 * time.Second
	if s := first(env, "TIMEOUT"); s != "" {
		if ms, err := strconv.Atoi(s); err == nil && ms > 0 {
			t.Timeout = time.Duration(ms) * time.Millisecond
		} else {
			warnings = append(warnings, "OTEL_EXPORTER_OTLP_TIMEOUT is not a number of milliseconds: 10 s is used")
		}
	}
	t.Headers = map[string]string{}
	for k, v := range pairs(env("OTEL_EXPORTER_OTLP_HEADERS")) {
		t.Headers[k] = v
	}
	for k, v := range pairs(env("OTEL_EXPORTER_OTLP_TRACES_HEADERS")) {
		t.Headers[k] = v
	}
	t.Version = version
	t.Resource = resource(env, version)
	t.Trace, t.Parent = parent(env("TRACEPARENT"))
	return t, true, warnings
}

// first returns a setting for traces, else the one for all signals.
func first(env func(string) string, name string) string {
	if v := env("OTEL_EXPORTER_OTLP_TRACES_" + name); v != "" {
		return v
	}
	return env("OTEL_EXPORTER_OTLP_" + name)
}

func resource(env func(string) string, version string) []Attr {
	given := pairs(env("OTEL_RESOURCE_ATTRIBUTES"))
	name := env("OTEL_SERVICE_NAME")
	if name == "" {
		name = given["service.name"]
	}
	name = cmp.Or(name, "pawl")
	as := []Attr{{"service.name", name}, {"service.version", version}, {"telemetry.sdk.language", "go"}, {"telemetry.sdk.name", "pawl"}}
	for _, k := range slices.Sorted(maps.Keys(given)) {
		if k != "service.name" && k != "service.version" {
			as = append(as, Attr{k, given[k]})
		}
	}
	return as
}

// pairs parses k=v,k=v with percent-encoded values; other parts are ignored.
func pairs(s string) map[string]string {
	out := map[string]string{}
	for p := range strings.SplitSeq(s, ",") {
		k, v, ok := strings.Cut(p, "=")
		k, v = strings.TrimSpace(k), strings.TrimSpace(v)
		if !ok || k == "" {
			continue
		}
		if u, err := url.PathUnescape(v); err == nil {
			v = u
		}
		out[k] = v
	}
	return out
}

// parent parses a W3C trace context: version-trace-span-flags. It returns "" if it is
// invalid.
func parent(s string) (trace, span string) {
	f := strings.Split(s, "-")
	if len(f) < 4 || len(f[0]) != 2 || f[0] == "ff" || !isHex(f[1], 32) || !isHex(f[2], 16) {
		return "", ""
	}
	return f[1], f[2]
}

// isHex reports whether s is n lower-case hex digits that are not all zero.
func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == "" && strings.Trim(s, "0") != ""
}
