// Package vertex reaches models on Google Vertex AI: Gemini, Anthropic's with
// streamRawPredict, and others through Vertex's endpoint in the format of OpenAI's Chat
// Completions. It returns the addresses, and tokens from the credentials of Google's
// tools: a service account, the sign-in of gcloud, an impersonated service account, the
// federation of another cloud's workloads, or the service of a machine at Google.
//
// It promises that no error contains a token or a private key, and that no credentials
// are read before the first request. It sends keys only to https, tokens for another
// account only to Google, and starts no program that a file of credentials names.
package vertex

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/adapter/provider/gemini"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/adapter/provider/openaichat"
)

// Place is the project that pays and the region that serves.
type Place struct{ Project, Region string }

// Global is the region without a fixed place.
const Global = "global"

// Address returns the address of a region; ok is false if it is not a region.
func Address(region string) (address string, ok bool) {
	ok = region != "" && len(region) < 40 && strings.Trim(region, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
	switch region {
	case Global:
		return "https://aiplatform.googleapis.com", true
	case "us", "eu": // covers several regions
		return "https://aiplatform." + region + ".rep.googleapis.com", true
	}
	return "https://" + region + "-aiplatform.googleapis.com", ok
}

// path returns the path of a project's resource in a region.
func (p Place) path(rest string) string {
	return "/v1/projects/" + url.PathEscape(p.Project) + "/locations/" + url.PathEscape(p.Region) + rest
}

// New returns the API for a model. Names of models that are neither Google's nor
// Anthropic's contain a slash.
func New(model string, at Place, t provider.Tuning) provider.API {
	switch APIName(model) {
	case anthropic.Name:
		return claude{anthropic.OnVertex(t), at}
	case gemini.Name:
		return google{gemini.New(t), at}
	}
	d := openaichat.DialectFor("vertex", model)
	d.Tuning = t
	return chat{openaichat.New(d, nil), at}
}

// APIName returns the name of the wire API that serves a model.
func APIName(model string) string {
	switch {
	case strings.HasPrefix(strings.TrimPrefix(model, "anthropic/"), "claude"):
		return anthropic.Name
	case strings.Contains(strings.TrimPrefix(model, "google/"), "/"):
		return openaichat.Name
	}
	return gemini.Name
}

type claude struct {
	anthropic.Hosted
	at Place
}

func (c claude) Path(model string) string {
	return c.at.path("/publishers/anthropic/models/" + escape(strings.TrimPrefix(model, "anthropic/")) + ":streamRawPredict")
}

func (c claude) Header(h http.Header, key string) {
	lax.SetKey(h, "", key)
	anthropic.SetBetas(h, c.Betas())
}

type google struct {
	gemini.API
	at Place
}

func (g google) Path(model string) string {
	return g.at.path("/publishers/google/models/" + escape(strings.TrimPrefix(model, "google/")) + ":streamGenerateContent?alt=sse")
}

func (google) Header(h http.Header, key string) { lax.SetKey(h, "", key) }

type chat struct {
	*openaichat.API
	at Place
}

func (c chat) Path(string) string { return c.at.path("/endpoints/openapi/chat/completions") }

// escape returns a model's name encoded for a path, except the @ before its version.
func escape(model string) string { return strings.ReplaceAll(url.PathEscape(model), "%40", "@") }
