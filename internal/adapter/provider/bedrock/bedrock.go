// Package bedrock reaches models on Amazon Bedrock: Anthropic's with
// InvokeModelWithResponseStream, and others through Bedrock's endpoint in the format of
// OpenAI's Chat Completions. It returns the addresses, decodes the stream, signs requests
// (Signature Version 4) and finds credentials.
//
// It promises that no error contains a key or a session token, that no credentials are
// read before the first request, and that expired ones are read again. It starts no
// program itself: a profile's credential_process runs only through Source.Program, and is
// refused without it.
package bedrock

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/adapter/provider/openaichat"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Anthropic reports whether a model is Anthropic's, by its name, the name of an inference
// profile, or an ARN. An application profile's ARN names no model; it counts as
// Anthropic's, since only Anthropic's models are invoked by ARN here.
func Anthropic(model string) bool {
	return strings.Contains(model, "anthropic.") || strings.HasPrefix(model, "claude") || strings.HasPrefix(model, "arn:")
}

func New(model string, t provider.Tuning) provider.API {
	if Anthropic(model) {
		return invoke{anthropic.OnBedrock(t)}
	}
	d := openaichat.DialectFor("bedrock", model)
	d.Tuning = t
	return chat{openaichat.New(d, nil)}
}

// APIName returns the name of the wire API that serves a model.
func APIName(model string) string {
	if Anthropic(model) {
		return anthropic.Name
	}
	return openaichat.Name
}

// chat is Chat Completions at Bedrock's address.
type chat struct{ *openaichat.API }

func (chat) Path(string) string { return "/openai/v1/chat/completions" }

func (c chat) Error(name string, status int, h http.Header, body []byte) *fault.Error {
	return explained(name, status, h, body)
}

// invoke is the Messages API in InvokeModelWithResponseStream.
type invoke struct{ anthropic.Hosted }

var (
	_ provider.Ender    = invoke{}
	_ provider.Ender    = chat{}
	_ provider.Finisher = (*decoder)(nil)
)

// Path returns the path with the whole name escaped: ARNs contain slashes, versions
// colons.
func (invoke) Path(model string) string {
	return "/model/" + escape(model) + "/invoke-with-response-stream"
}

// escape returns s with everything encoded except the characters that a signature leaves
// unchanged.
func escape(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), "%7E", "~")
}

func (invoke) Framing() provider.Framing { return provider.EventStream }

// Header sets a Bedrock API key as a bearer token; without a key, Credentials sign.
func (invoke) Header(h http.Header, key string) {
	h.Set("Accept", "application/vnd.amazon.eventstream")
	lax.SetKey(h, "", key)
}

func (i invoke) Decoder() provider.Decoder { return &decoder{inner: i.Hosted.Decoder()} }

func (invoke) Error(name string, status int, h http.Header, body []byte) *fault.Error {
	return explained(name, status, h, body)
}

// decoder unpacks the events of the Messages API from their envelopes.
type decoder struct{ inner provider.Decoder }

// Event decodes a message of the stream. It also accepts events without an envelope,
// which some gateways send.
func (d *decoder) Event(name string, data []byte) ([]llm.Delta, error) {
	if kind, ok := strings.CutPrefix(name, provider.ExceptionPrefix); ok {
		return nil, exception(kind, data)
	}
	if name != "chunk" && name != "" {
		return d.inner.Event(name, data)
	}
	var chunk struct {
		Bytes []byte `json:"bytes"`
	}
	if err := json.Unmarshal(data, &chunk); err != nil {
		return nil, err
	}
	if chunk.Bytes == nil {
		return d.inner.Event("", data)
	}
	return d.inner.Event("", chunk.Bytes)
}

func (d *decoder) Whole(body []byte) ([]llm.Delta, error) { return d.inner.Whole(body) }

func (d *decoder) End() (llm.Reply, error) { return d.inner.End() }

// Finished reports whether the last event was seen.
func (d *decoder) Finished() bool {
	f, ok := d.inner.(provider.Finisher)
	return ok && f.Finished()
}

// statuses maps the exceptions in a stream to the HTTP status with the same meaning.
var statuses = map[string]int{
	"throttlingexception": 429, "serviceunavailableexception": 503, "internalserverexception": 500,
	"modeltimeoutexception": 408, "modelstreamerrorexception": 503, "modelerrorexception": 503, "modelnotreadyexception": 429,
	"validationexception": 400, "accessdeniedexception": 403, "resourcenotfoundexception": 404,
	"servicequotaexceededexception": 429, "expiredtokenexception": 403, "unrecognizedclientexception": 403,
}

// exception returns the error for an exception inside a stream.
func exception(kind string, data []byte) error {
	said, _ := lax.Said(data)
	said.Type = kind
	if status, ok := statuses[strings.ToLower(kind)]; ok {
		said.Code = strconv.Itoa(status)
	}
	return provider.Fail("", http.StatusOK, nil, data, said)
}

// explained returns the error for an answer that is not 2xx: {"message":…}, with the
// exception's name in a header.
func explained(name string, status int, h http.Header, body []byte) *fault.Error {
	said, _ := lax.Said(body)
	if kind, _, _ := strings.Cut(h.Get("x-amzn-errortype"), ":"); kind != "" {
		said.Type = kind
	}
	f := provider.Fail(name, status, h, body, said)
	low := strings.ToLower(said.Message)
	switch {
	case status == http.StatusFailedDependency: // ModelErrorException: the model failed
		f.Retryable = true
	case f.Hint != "":
	case said.Type == "ExpiredTokenException" || strings.Contains(low, "security token") && strings.Contains(low, "expired"):
		f.Hint = "renew the credentials, for example with aws sso login"
	case strings.Contains(low, "on-demand throughput") || strings.Contains(low, "inference profile"):
		f.Hint = "name an inference profile, such as us.anthropic.…; aws bedrock list-inference-profiles lists them"
	case strings.Contains(low, "model identifier is invalid") || said.Type == "ResourceNotFoundException":
		f.Hint = "name a model of this region; aws bedrock list-inference-profiles lists them"
	case status == http.StatusForbidden:
		f.Hint = "the credentials need bedrock:InvokeModelWithResponseStream, and the account access to the model in this region"
	}
	return f
}
