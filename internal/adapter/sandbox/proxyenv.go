package sandbox

import (
	"slices"
	"strconv"
	"strings"
)

// The environment variables of proxies: the usual ones, and those of tools that read
// others first.
var (
	proxyNames = []string{
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "npm_config_proxy", "npm_config_https_proxy",
		"YARN_HTTP_PROXY", "YARN_HTTPS_PROXY", "PIP_PROXY", "CARGO_HTTP_PROXY", "BUNDLE_HTTP_PROXY", "BUNDLE_HTTPS_PROXY",
	}
	directNames = []string{"NO_PROXY", "no_proxy", "npm_config_noproxy"}
)

// withoutNetwork returns the environment of a command that has no proxy: npm would try to
// look up a name for 70 seconds, the others for 10.
func withoutNetwork(env []string) []string {
	return append(env, "npm_config_fetch_retries=0", "PIP_RETRIES=0", "CARGO_NET_RETRY=0")
}

// withProxy returns an environment with the settings of a proxy.
func withProxy(env []string, url string) []string {
	var set []string
	for _, n := range proxyNames {
		set = append(set, n+"="+url)
	}
	for _, n := range directNames {
		set = append(set, n+"=localhost,127.0.0.1,::1")
	}
	set = append(set,
		"NODE_USE_ENV_PROXY=1",               // else Node's fetch ignores the others
		"PIP_RETRIES=1", "CARGO_NET_RETRY=1", // they take a refusal for a bad line, and try again for 10 seconds
	)
	count := 0
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, "GIT_CONFIG_COUNT="); ok {
			count, _ = strconv.Atoi(value)
		}
	}
	n := strconv.Itoa(count)
	return replaced(env, append(set, "GIT_CONFIG_COUNT="+strconv.Itoa(count+1), "GIT_CONFIG_KEY_"+n+"=http.proxy", "GIT_CONFIG_VALUE_"+n+"="+url))
}

// replaced returns an environment with settings in place of those that have the same names.
func replaced(env, set []string) []string {
	rest := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name+"=") })
	})
	return append(rest, set...)
}

// withTemp returns an environment with a temporary folder, unless temp is "".
func withTemp(env []string, temp string) []string {
	if temp == "" {
		return env
	}
	return replaced(env, []string{"TMPDIR=" + temp, "TMP=" + temp, "TEMP=" + temp})
}
