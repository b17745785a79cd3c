package catalog

import (
	"net/url"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/openaichat"
	"github.com/pawl-agent/pawl/internal/adapter/provider/responses"
)

// This file handles Azure OpenAI's addresses. Without a dated api-version it uses the v1
// API, whose requests name the deployment as the model; with one, the address names the
// deployment.

// azureToken holds a token of Entra ID, sent as a bearer token instead of a key.
const azureToken = "AZURE_OPENAI_AD_TOKEN"

// azureVersion returns the dated version of the API that the person set, "" for v1.
func azureVersion(env func(string) string) string {
	for _, name := range []string{"AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION"} {
		switch v := get(env, name); v {
		case "", "v1", "preview", "latest":
		default:
			return v
		}
	}
	return ""
}

// firstWithResponses is the first dated version that has the Responses API.
const firstWithResponses = "2025-03-01-preview"

// azureAPI returns the name of the wire API in a version of Azure's API.
func azureAPI(r row, version string) string {
	if version != "" && version < firstWithResponses {
		return openaichat.Name
	}
	return r.api
}

// encoder is a wire API of OpenAI.
type encoder interface {
	provider.API
	provider.Ender
}

// datedAPI is an API at the addresses of Azure's dated versions.
type datedAPI struct {
	encoder
	version string
}

func (d datedAPI) Path(model string) string {
	q := "?api-version=" + url.QueryEscape(d.version)
	if d.Name() == responses.Name {
		return "/responses" + q
	}
	return "/deployments/" + url.PathEscape(model) + "/chat/completions" + q
}

// azureBase returns the base URL of Azure's API in a version: the path of a dated version
// has no /v1.
func azureBase(base, version string) string {
	if version == "" {
		return base
	}
	return strings.TrimSuffix(base, "/v1")
}
